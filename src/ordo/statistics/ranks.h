// SPDX-License-Identifier: Apache-2.0
// Ranks of arms over blocks (task × seed): Friedman's test and Nemenyi's critical difference, as Demšar (2006) puts
// them together for comparing learners over data sets.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ordo/statistics/interval.h"

namespace ordo {

inline constexpr int64_t kRankBlocks = 10;  // from so many blocks on there is a critical difference

struct RankTable {
  int64_t blocks = 0;
  std::vector<double> ranks;    // mean rank of each arm, 1 the best; ties share the mean of their ranks
  double friedman = kNoNumber;  // χ² with k - 1 degrees, corrected for ties
  double p = 1.0;
  double critical_difference = kNoNumber;  // mean ranks further apart differ at 0.05; NaN below kRankBlocks blocks
};
// values[block][arm]. A value that is not finite (a diverged run) ranks last, ties with others like it. Throws Error
// when blocks differ in length. No block or fewer than two arms: ranks without a test; every block all ties: p is 1.
RankTable rank_table(std::span<const std::vector<double>> values, bool larger_is_better);

// q(1 - alpha; k, ∞) / √2 · √(k (k + 1) / (6 N)).
double nemenyi_difference(int64_t arms, int64_t blocks, double alpha = 0.05);

}  // namespace ordo
