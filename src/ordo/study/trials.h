// SPDX-License-Identifier: Apache-2.0
// Tuning: which trial each arm goes on with.
#pragma once
#include <vector>

#include "ordo/study/summary.h"

namespace ordo {

// One entry for each arm of tuning and trial, in the order of the plan. The chosen one
// has the best mean of tune.metric over the seeds; a trial with a run that diverged or failed is chosen only if no
// other trial of its arm has all its values, and the first one wins a draw. An arm with a missing run has no choice
// yet.
std::vector<Trial> judge_trials(const Plan& plan, const Results& results);

}  // namespace ordo
