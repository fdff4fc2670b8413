// SPDX-License-Identifier: Apache-2.0
// Statements of a study file, checked against its results.
#pragma once
#include <vector>

#include "ordo/study/outcomes.h"
#include "ordo/study/summary.h"

namespace ordo {

// A claim is asked in every combination of the other factors that its `where` takes, as trained unless `where` names
// scalings or the claim is about them. It fails where it fails in one of them, and holds where it holds in all; where
// one of its levels has no run and the others do not make it fail, it is undecided. By rule:
//   every_run  each run meets the bound, each seed of the better level is better; a diverged run does neither;
//   intervals  the bound lies outside the interval, neighbours' intervals do not overlap: undecided while they do, or
//              where there is no interval (one seed, two modes, a diverged run);
//   mean       of the means alone.
// A missing run leaves `every_run` undecided unless another one fails it; the other rules go by the runs that are there
// and say so.
std::vector<ClaimVerdict> claim_verdicts(const Plan& plan, const OutcomeTable& outcomes);

}  // namespace ordo
