// SPDX-License-Identifier: Apache-2.0
// How long the runs of a study will take, from a few steps of some of them.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "ordo/study/runner.h"

namespace ordo {

struct RunProbe {
  const PlannedRun* run = nullptr;
  double start = 0.0;       // seconds until the first step
  double step = 0.0;        // seconds of a step
  double evaluation = 0.0;  // seconds of one evaluation of a trained model, its start included
  int64_t steps = 0;        // made
  std::string why = {};     // it failed
};

// Steps of a whole training: train.steps, where need be from the length of an epoch.
int64_t planned_steps(const RunConfig& config);

// Runs in the order of the plan in which every level of every factor occurs; of so many that this would take long,
// kMostProbes spread over them.
inline constexpr size_t kMostProbes = 12;
std::vector<const PlannedRun*> runs_to_probe(std::span<const PlannedRun> planned);

// Trains each for a few steps and evaluates it as the study would, as many at a time as the study would run, in a
// temporary folder that is removed. Ends early, with fewer probes, when a stop is asked for.
std::vector<RunProbe> probe(const StudyConfig& config, std::span<const PlannedRun* const> runs,
                            const RunnerOptions& options);

// The probe whose run has most levels in common with this combination; null: none that did not fail.
const RunProbe* nearest_probe(std::span<const RunProbe> probes, const Combination& levels);

}  // namespace ordo
