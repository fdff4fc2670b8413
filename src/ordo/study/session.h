// SPDX-License-Identifier: Apache-2.0
// A study from its plan to its last run: trials first, then the choice of each arm, then the comparison.
#pragma once
#include "ordo/study/runner.h"

namespace ordo {

// Makes trials and runs. What is decided on the way makes the plan final: the steps that a budget in seconds comes to
// (measured once, kept in <study>/measured.json), and what the trials chose (told in <study>/tune/chosen.json). The
// report is of trials and runs together. Whoever calls holds the folder's lock.
RunnerReport make_study(const fs::path& study, Plan& plan, const RunnerOptions& options);

// Makes the plan final as far as the folder already decides it; nothing is run. False: trials or measurements are
// missing, and the runs are as the base config has them.
bool settle_plan(const fs::path& study, Plan& plan);

}  // namespace ordo
