// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/trials.h"

#include <algorithm>
#include <cmath>

#include "ordo/study/outcomes.h"

namespace ordo {

namespace {

bool same_arm_and_trial(const Trial& a, const Trial& b) { return a.arm == b.arm && a.trial == b.trial; }

// The value of one trial's run at the compared length, else at its first; NaN without one.
double trial_value(const Plan& plan, const Results& results, const PlannedRun& run) {
  double first = kNoNumber;
  for (const auto& row : results.trial_rows) {
    if (row.run != run.folder || row.status != RunStatus::done || !row.scaling.empty()) continue;
    const auto found = row.metrics.find(plan.study.tune->metric);
    if (found == row.metrics.end()) continue;
    if (row.length == plan.study.compare.length) return found->second;
    if (std::isnan(first)) first = found->second;
  }
  return first;
}

bool run_is_missing(const Results& results, const PlannedRun& run) {
  const auto found = std::find_if(results.trials.begin(), results.trials.end(),
                                  [&](const RunFacts& facts) { return facts.run == run.folder; });
  return found == results.trials.end() || found->status == RunStatus::missing;
}

// Whether a is chosen rather than b; a whole trial before one with failures.
bool is_preferred(const Trial& a, const Trial& b, bool larger_is_better) {
  if ((a.failed == 0) != (b.failed == 0)) return a.failed == 0;
  if (a.values.empty() || b.values.empty()) return !a.values.empty() && b.values.empty();
  return larger_is_better ? a.mean > b.mean : a.mean < b.mean;
}

void choose_in_arm(std::vector<Trial>& trials, const Combination& arm, bool larger_is_better) {
  Trial* best = nullptr;
  for (auto& trial : trials)
    if (trial.arm == arm && (best == nullptr || is_preferred(trial, *best, larger_is_better))) best = &trial;
  if (best != nullptr && !best->values.empty()) best->chosen = true;
}

}  // namespace

std::vector<Trial> judge_trials(const Plan& plan, const Results& results) {
  std::vector<Trial> trials;
  if (!plan.study.tune) return trials;
  std::vector<Combination> unfinished;
  for (const auto& run : plan.trials) {
    Trial trial{.arm = arm_of(*plan.study.tune, run.levels), .trial = run.trial};
    auto place =
        std::find_if(trials.begin(), trials.end(), [&](const Trial& t) { return same_arm_and_trial(t, trial); });
    if (place == trials.end()) place = trials.insert(trials.end(), std::move(trial));
    const double value = trial_value(plan, results, run);
    if (std::isfinite(value))
      place->values.push_back(value);
    else
      ++place->failed;
    if (run_is_missing(results, run)) unfinished.push_back(place->arm);
  }
  for (auto& trial : trials) trial.mean = describe(trial.values).mean;
  const bool larger = larger_is_better(plan.study.tune->metric);
  for (size_t i = 0; i < trials.size(); ++i) {
    const Combination& arm = trials[i].arm;
    const bool first = std::none_of(trials.begin(), trials.begin() + static_cast<std::ptrdiff_t>(i),
                                    [&](const Trial& t) { return t.arm == arm; });
    if (first && std::find(unfinished.begin(), unfinished.end(), arm) == unfinished.end())
      choose_in_arm(trials, arm, larger);
  }
  return trials;
}

}  // namespace ordo
