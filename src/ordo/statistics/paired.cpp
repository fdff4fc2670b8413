// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/paired.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ordo/statistics/inside.h"
#include "ordo/statistics/permutation.h"

namespace ordo {

namespace {

// a - b, or 0 where they differ by rounding only.
double difference_of(double a, double b) {
  const double difference = a - b;
  return std::abs(difference) <= kRounding * std::max(std::abs(a), std::abs(b)) ? 0.0 : difference;
}

double effect_size(double difference, double sd) {
  if (sd != 0.0) return difference / sd;
  return difference == 0.0 ? 0.0 : std::copysign(std::numeric_limits<double>::infinity(), difference);
}

}  // namespace

Paired compare_paired(std::span<const double> a, std::span<const double> b, const PairedOptions& options) {
  require(a.size() == b.size(), "statistics: paired values come in pairs (found: {} and {})", a.size(), b.size());
  require_share(options.level, "the level of an interval");
  Paired paired{.n = static_cast<int64_t>(a.size()), .separated = separated(a, b)};
  std::vector<double> differences;
  for (size_t i = 0; i < a.size(); ++i) {
    differences.push_back(difference_of(a[i], b[i]));
    paired.ties += differences.back() == 0.0;
    paired.wins += std::isfinite(differences.back()) &&
                   (options.larger_is_better ? differences.back() > 0.0 : differences.back() < 0.0);
  }
  const Sample sample = describe(differences);
  paired.difference = sample.mean;
  paired.sd = sample.sd;
  paired.effect = effect_size(sample.mean, sample.sd);
  paired.interval = t_interval(differences, options.level);
  const SignFlips flips = sign_flip_test(differences);
  paired.p = flips.p;
  paired.p_smallest = flips.p_smallest;
  paired.exact = flips.exact;
  return paired;
}

bool separated(std::span<const double> a, std::span<const double> b) {
  constexpr size_t kFewest = 3;
  if (std::min(a.size(), b.size()) < kFewest || !all_finite(a) || !all_finite(b)) return false;
  const auto [a_low, a_high] = std::minmax_element(a.begin(), a.end());
  const auto [b_low, b_high] = std::minmax_element(b.begin(), b.end());
  return *a_low > *b_high || *b_low > *a_high;
}

bool names_winner(double p_adjusted, const Interval& difference, double smallest_difference) {
  const bool beyond = difference.low > smallest_difference || difference.high < -smallest_difference;
  return p_adjusted < kAlpha && difference.exists() && beyond;
}

}  // namespace ordo
