// SPDX-License-Identifier: Apache-2.0
// What a study would take: runs, arithmetic, time.
#pragma once
#include <string>
#include <vector>

#include "ordo/study/probe.h"

namespace ordo::cli {

// Of one combination of levels.
struct CombinationEstimate {
  const PlannedRun* run = nullptr;  // its first
  int64_t runs = 0, trials = 0;
  int64_t steps = 0, parameters = 0;
  double flops_per_step = 0.0;
  double seconds = 0.0;  // of one run, its evaluations included; 0: not known
  double flops() const { return flops_per_step * static_cast<double>(steps); }  // of one run
};
struct PlanEstimate {
  std::vector<CombinationEstimate> combinations;
  std::vector<RunProbe> probes;
  int64_t processes = 1, threads = 1;
  double flops() const;    // of the whole study
  double seconds() const;  // of the whole study; 0: not known
};
// Probes some runs; the plan must outlive the estimate.
PlanEstimate estimate_plan(const Plan& plan, const RunnerOptions& options);
std::string estimate_text(const Plan& plan, const PlanEstimate& estimate);
Json estimate_json(const Plan& plan, const PlanEstimate& estimate);

}  // namespace ordo::cli
