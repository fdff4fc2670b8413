// SPDX-License-Identifier: Apache-2.0
// Every run of a study, resolved before the first begins.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ordo/study/study.h"
#include "ordo/train/run_config.h"

namespace ordo {

struct PlannedRun {
  std::string folder;  // below the study's: "runs/rope-seed1", "tune/rope-lr=0.001-seed101"
  // Of the resolved config and of what is evaluated (split, lengths, stride, scalings): a changed setting makes a new
  // run. Without `name` and `device`; of files that it names the content counts, not the path.
  std::string hash;
  Combination levels;
  int64_t seed = 0;
  std::optional<int64_t> instance = {};  // as in the config: nothing: the seed's own
  RunConfig config;
  std::vector<Setting> settings;  // what is laid over the base, in order; a later one of the same key wins
  std::string trial;              // of tuning: the values tried, "train.optimizer.lr=0.001"; empty: of the comparison
  std::vector<Setting> adjusted = {};  // the last of `settings`: what budget and control changed
  std::string split = {};              // validation | test; of a trial: tune.by.split
  std::vector<int64_t> lengths = {};   // evaluated; of a trial: the compared one
  std::vector<int64_t> scalings = {};  // numbers, from 1, of those study.evaluate.scalings that its encoding takes
  fs::path base = {};
};
struct LeftOut {
  Combination levels;
  std::string why;
};
struct Plan {
  StudyConfig study;             // evaluate.split resolved
  std::vector<PlannedRun> runs;  // of the comparison; factors vary slowest (the first one slowest of all), then
                                 // instances, seeds fastest
  std::vector<PlannedRun> trials;
  std::vector<LeftOut> left_out;
  std::vector<std::string> notes;  // what the report must say: all arms share one learning rate, the split is fixed, …
};
// Throws ConfigError with every problem found: a combination of settings that cannot be trained, two levels whose
// settings give identical models ("these settings give identical models"), …
Plan make_plan(const StudyConfig& study);
// Keeps the runs of some levels and seeds, and all trials of their arms. A word is FACTOR=LEVEL, FACTOR=LEVEL,LEVEL,
// FACTOR=!LEVEL or seed=N; words of one factor, or of seeds, name them together. Without words all is kept. Throws
// ConfigError for names that the study does not have, and when no run is left.
void keep_only(Plan& plan, std::span<const std::string> only);
std::string plan_yaml(const Plan& plan);
// The plan of a study folder, from its plan.yaml: the study file named there is read again. Throws ConfigError when
// that file is gone or gives another plan by now.
Plan read_plan(const fs::path& folder);

// The arm of tuning that a combination belongs to: the levels of tune.per.
Combination arm_of(const TuneConfig& tune, const Combination& levels);
struct Chosen {
  Combination arm;
  std::string trial;  // as in PlannedRun::trial; empty: nothing yet, the values are those of the base
};
// Sets what the trials chose in the runs of the comparison: config, settings, hash; then budget and control anew.
// Without it, runs of a study with `tune` have the values of the base. Throws ConfigError for an arm without choice.
void apply_tuning(Plan& plan, std::span<const Chosen> chosen);
// What a measurement decides: steps for every run and trial of a combination, for a budget in seconds or
// `control: {equal: seconds}` (which the plan leaves open).
void apply_steps(Plan& plan, const Combination& levels, int64_t steps);

}  // namespace ordo
