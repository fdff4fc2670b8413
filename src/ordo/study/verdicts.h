// SPDX-License-Identifier: Apache-2.0
// What may be said of a pair, and why not more.
#pragma once
#include <vector>

#include "ordo/study/outcomes.h"
#include "ordo/study/summary.h"

namespace ordo {

inline constexpr const char* kBetter = "better";
inline constexpr const char* kWorse = "worse";
inline constexpr const char* kSeparated = "separated";
inline constexpr const char* kNotToldApart = "not told apart";

// Two arms of a pair, on the seeds that both have.
struct ComparedArms {
  std::vector<Outcome> a, b;       // all outcomes that have a partner
  std::vector<double> of_a, of_b;  // a value a seed; NaN: diverged
  std::vector<int64_t> seeds;
  int64_t diverged_a = 0, diverged_b = 0, without_partner = 0;
  bool two_modes_a = false, two_modes_b = false;
  bool mean_is_honest() const { return diverged_a + diverged_b == 0 && !two_modes_a && !two_modes_b; }
};
struct Compared {
  Pair pair;
  ComparedArms arms;
  bool apart = false;  // every seed of one beyond every seed of the other
};

// Corrects the p-values for each other and sets p_adjusted, verdict, why, lack and seeds_needed.
//   better, worse   the corrected p is below 0.05 and the interval of the paired difference lies beyond
//                   compare.smallest_difference;
//   separated       short of that, every seed of one is better than every seed of the other, and the interval, or where
//                   there is none the mean difference of the seeds that have one, lies beyond smallest_difference;
//   not told apart  else.
void judge_together(const CompareConfig& compare, std::vector<Compared>& all);

// Whether a is the better one of a pair that is told apart.
bool a_is_ahead(const Pair& pair);

}  // namespace ordo
