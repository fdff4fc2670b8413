// SPDX-License-Identifier: Apache-2.0
// Levels of the compared factor held against each other, seed by seed, and what may be said of each pair.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ordo/study/outcomes.h"
#include "ordo/study/summary.h"

namespace ordo {

// Every level against compare.against, or all against all, within each combination of the other factors, at the
// compared length; p-values corrected over all of them together. Scalings are compared where compare.factor is
// `scaling`; else as trained. Empty when there is nothing to compare.
std::vector<Pair> compared_pairs(const Plan& plan, const OutcomeTable& outcomes);

// Mean ranks over the blocks in which every level has a result; nothing below 10 of them.
std::optional<LevelRanks> level_ranks(const Plan& plan, const OutcomeTable& outcomes);

}  // namespace ordo
