// SPDX-License-Identifier: Apache-2.0
// Combinations of levels, and the training config that each of them makes of its base.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ordo/study/files.h"
#include "ordo/study/plan.h"

namespace ordo {

// A combination of levels, resolved but for seed and instance.
struct Arm {
  Combination levels;
  fs::path base;
  std::vector<Setting> settings;  // of its levels, of `set`, of the command line, of tuning
  RunConfig config;
  std::vector<Setting> adjusted = {};  // by budget and control; last of the settings
  std::vector<int64_t> lengths = {};   // evaluated
  std::vector<int64_t> scalings = {};  // numbers, from 1, of those that its encoding takes
};

// The product of the factors, the first one slowest.
std::vector<Combination> product(const std::vector<Factor>& factors);
// The product of the study's factors but for what skip and only leave out, which is told.
std::vector<Combination> combinations(const StudyConfig& study, std::vector<LeftOut>* left_out = nullptr);

// The config that the settings make of a base. What is wrong goes to the problems; then there is none.
std::optional<RunConfig> resolve(const StudyConfig& study, const fs::path& base, std::span<const Setting> settings,
                                 Problems& problems);
// Every combination resolved; those that cannot be are told to the problems and left out.
std::vector<Arm> resolve_arms(const StudyConfig& study, Problems& problems);
// Nothing when the arm's encoding does not take the scaling (from 1); the reason is added to `why`.
std::optional<RunConfig> scaled(const StudyConfig& study, const Arm& arm, int64_t scaling, Problems& why);

}  // namespace ordo
