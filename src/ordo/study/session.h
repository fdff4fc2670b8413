// SPDX-License-Identifier: Apache-2.0
// A study from its plan to its last run: trials first, then the choice of each arm, then the comparison.
#pragma once
#include "ordo/study/runner.h"

namespace ordo {

// Makes those trials and runs of a whole plan that `only` keeps (keep_only), and what they hang on: a budget in seconds
// is measured once (<study>/measured.json), what the trials chose is told in <study>/tune/chosen.json. The report is of
// trials and runs together. Whoever calls holds the folder's lock.
RunnerReport make_study(const fs::path& study, const Plan& plan, std::span<const std::string> only,
                        const RunnerOptions& options);

// Makes a whole plan final as far as the folder already decides it; nothing is run. The notes tell which combinations
// are not measured or tuned yet and so are planned as the base has them, and which trials failed.
void settle_plan(const fs::path& study, Plan& plan);

}  // namespace ordo
