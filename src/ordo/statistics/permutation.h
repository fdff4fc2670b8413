// SPDX-License-Identifier: Apache-2.0
// The sign-flip permutation test of paired differences (Fisher 1935): without a difference each sign is a toss of a
// coin.
#pragma once
#include <cstdint>
#include <span>

namespace ordo {

inline constexpr int64_t kExactFlips = 20;       // up to so many differences all 2^n flips are enumerated
inline constexpr int64_t kDrawnFlips = 200'000;  // above, so many are drawn from a fixed key

struct SignFlips {
  double p = 1.0;           // two-sided: the share of flips whose |sum| is at least the one found
  double p_smallest = 1.0;  // that n differences can give at all
  bool exact = true;        // enumerated; else p = (1 + reached) / (1 + drawn) (Phipson and Smyth 2010)
};
// No difference, or one that is not finite: p is 1. Sums within 1e-12 of each other (relative to Σ|d|) are equal.
SignFlips sign_flip_test(std::span<const double> differences);

// 2^(1 - n), from 1 / (1 + kDrawnFlips) on where flips are drawn: 0.25 at 3, 0.125 at 4, 0.0625 at 5; 1 without any.
double smallest_sign_flip_p(int64_t n);

// The fewest repetitions with which 2^(1 - n) passes below alpha after Holm's correction over so many comparisons (1 at
// least): 6 for one, 8 for 5, 10 for 15. Throws Error unless 0 < alpha < 1.
int64_t repetitions_to_pass(int64_t comparisons, double alpha = 0.05);

}  // namespace ordo
