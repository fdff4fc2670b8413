// SPDX-License-Identifier: Apache-2.0
// Runs of which some learn and some do not: no interval of their mean is honest (a t-interval covers 0.49 with three
// seeds of which each fails with one chance in five), so they are counted.
#pragma once
#include <cstdint>
#include <span>

#include "ordo/statistics/interval.h"

namespace ordo {

// Where the values fall apart, if they do.
struct TwoModes {
  bool found = false;
  double below = kNoNumber;  // the largest value of the lower mode
  double above = kNoNumber;  // the smallest of the upper one
};
// The rule: three values or more, and the widest gap between neighbours is at least `smallest_gap` and at least three
// times as wide as the values on either side of it are spread. smallest_gap is in the metric's own unit: 0.2 suits
// shares (normal noise of sd 0.1 is then taken for two modes in 10 % of cases with 3 runs, 2 % with 5, 0.1 % with 8).
// Values that are not finite (diverged runs) are a mode of their own, below and above then being NaN: found, unless no
// other is left.
TwoModes two_modes(std::span<const double> values, double smallest_gap = 0.2);

// How many of n runs reach the threshold (fall to it, where smaller is better), with the exact interval of the share.
// Values that are not finite do not.
struct Solved {
  int64_t solved = 0, runs = 0;
  Interval interval;
};
Solved count_solved(std::span<const double> values, double threshold, bool larger_is_better, double level = 0.95);

}  // namespace ordo
