// SPDX-License-Identifier: Apache-2.0
// Two arms compared seed by seed: same weights, same order of the data, so that what the seed does cancels.
#pragma once
#include <cstdint>
#include <span>

#include "ordo/statistics/interval.h"

namespace ordo {

struct Paired {
  int64_t n = 0;
  double difference = kNoNumber;     // mean of a - b
  double sd = kNoNumber;             // of the differences; 0 exactly when all are equal up to rounding
  double effect = kNoNumber;         // difference / sd (Cohen's d_z); ±infinity when only sd is 0, 0 when both are
  Interval interval;                 // t-interval of the difference; none when sd is 0 or NaN (see items_difference)
  int64_t wins = 0, ties = 0;        // pairs of which a is the better one; pairs that are equal up to rounding
  double p = 1.0, p_smallest = 1.0;  // of the sign-flip test, see permutation.h
  bool exact = true;
  bool separated = false;  // every value of one arm lies above every value of the other, see below
};
struct PairedOptions {
  bool larger_is_better = true;  // decides wins, nothing else
  double level = 0.95;
};
// a[i] and b[i] share their seed (and instance). Throws Error when they are not equally many. A value that is not
// finite leaves no difference, no interval, and p = 1; the wins are counted over the pairs where both are finite.
Paired compare_paired(std::span<const double> a, std::span<const double> b, const PairedOptions& options = {});

// Every value of one above every value of the other, either way round; false with fewer than three on a side, where
// chance does it too often (1 in 3 with two and two, 1 in 10 with three and three), or where one is not finite.
bool separated(std::span<const double> a, std::span<const double> b);

inline constexpr double kAlpha = 0.05;
// Whether one arm may be called better: the corrected p is below 0.05 and the interval of the paired difference lies
// wholly beyond ±smallest_difference (0: it does not touch 0). Never without an interval.
bool names_winner(double p_adjusted, const Interval& difference, double smallest_difference = 0.0);

}  // namespace ordo
