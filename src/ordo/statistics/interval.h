// SPDX-License-Identifier: Apache-2.0
// Intervals for means and shares: Student's over repetitions (seeds), Clopper and Pearson's exact one over test items.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace ordo {

inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();  // where there is no answer

struct Interval {
  std::string kind;  // t | bootstrap | exact | hierarchical; empty: there is none
  double low = kNoNumber, high = kNoNumber;
  double level = 0.95;
  bool exists() const { return !kind.empty(); }
  bool contains(double value) const { return low <= value && value <= high; }  // false where there is none
};

// n values: their mean and their standard deviation (divided by n - 1). No value: mean NaN; fewer than two: sd NaN; one
// that is not finite: both NaN. Values that differ by rounding only (1e-12 of the largest) are equal: sd is 0 exactly.
struct Sample {
  int64_t n = 0;
  double mean = kNoNumber, sd = kNoNumber;
};
Sample describe(std::span<const double> values);

// mean ± t(1 - (1 - level) / 2, n - 1) · sd / √n (Student 1908), each value one repetition. None: fewer than two
// values, one that is not finite, or all of them equal, since a spread of zero is no estimate of the spread: see
// items_interval.
Interval t_interval(std::span<const double> values, double level = 0.95);

// Clopper and Pearson (1934), two-sided: from the (1 - level) / 2 quantile of Beta(k, n - k + 1) to the
// (1 + level) / 2 quantile of Beta(k + 1, n - k); 0 and 1 at the ends. k need not be whole: for scores within [0, 1]
// their sum is taken; they spread less than successes do. None: no trial, or successes outside 0..trials.
// Every level here is a number between 0 and 1, else Error.
Interval exact_interval(double successes, int64_t trials, double level = 0.95);

// The exact interval of the mean of items' scores in [0, 1], `twins` neighbours of which (items i with the same
// i / twins) belong together and count as one trial. Items of several runs stand one after the other, those that the
// runs share once (as their mean). None: no item, one outside [0, 1], or a number that twins does not divide.
Interval items_interval(std::span<const double> items, int64_t twins = 1, double level = 0.95);

// Of the difference of two means of items, for two arms without any spread over seeds: the exact interval of each at
// half the error, one minus the other (Bonferroni: covers at least `level`, whatever the two share).
Interval items_difference(std::span<const double> a, std::span<const double> b, int64_t twins = 1, double level = 0.95);

}  // namespace ordo
