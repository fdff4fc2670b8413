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

// Names of the levels of a factor that has runs, in the order of the plan; of `scaling`, "none" first.
std::vector<std::string> levels_with_runs(const OutcomeTable& outcomes, std::string_view factor);

// What to ask for a level of a factor, the other factors as in `where`; the length is left to be set. Nothing when the
// study has no such combination.
std::optional<Question> ask(const OutcomeTable& outcomes, const Combination& where, std::string_view factor,
                            const std::string& level, const std::string& metric);

// The combinations of the other factors.
std::vector<Combination> places_of(const OutcomeTable& outcomes, std::string_view factor);

// Whether a is the better one of a pair that is told apart.
bool a_is_ahead(const Pair& pair);

inline constexpr const char* kBetter = "better";
inline constexpr const char* kWorse = "worse";
inline constexpr const char* kSeparated = "separated";
inline constexpr const char* kNotToldApart = "not told apart";

}  // namespace ordo
