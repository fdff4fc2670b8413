// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ordo/core/hash.h"
#include "ordo/statistics/inside.h"

namespace ordo {

namespace {

// The means of all n^n resamples: the indices count up like the digits of a number of base n.
std::vector<double> means_of_all(std::span<const double> values) {
  const size_t n = values.size();
  std::vector<size_t> digits(n, 0);
  std::vector<double> means;
  for (;;) {
    double sum = 0.0;
    for (const size_t digit : digits) sum += values[digit];
    means.push_back(sum / static_cast<double>(n));
    size_t place = 0;
    while (place < n && ++digits[place] == n) digits[place++] = 0;
    if (place == n) return means;
  }
}

std::vector<double> means_of_drawn(std::span<const double> values, int64_t draws) {
  KeyedSequence sequence(key_of(0, "bootstrap"));
  std::vector<double> means;
  for (int64_t draw = 0; draw < draws; ++draw) {
    double sum = 0.0;
    for (size_t i = 0; i < values.size(); ++i) sum += values[sequence.below(values.size())];
    means.push_back(sum / static_cast<double>(values.size()));
  }
  return means;
}

// The smallest value with at least a share q of all values at or below it, and the largest with as many at or above:
// the quantiles of a distribution of just these values. Between neighbours nothing is interpolated: of the 27 resamples
// of three values the lowest alone has 1/27, more than 0.025.
std::pair<double, double> outer_quantiles(std::span<const double> sorted, double q) {
  const double needed = std::ceil(q * static_cast<double>(sorted.size()) * (1.0 - kRounding));
  const auto count = static_cast<size_t>(std::max(needed, 1.0));
  return {sorted[count - 1], sorted[sorted.size() - count]};
}

}  // namespace

Resampled resampled(std::vector<double> means, std::string kind, double level) {
  std::sort(means.begin(), means.end());
  double mean = 0.0, squares = 0.0;
  for (const double value : means) mean += value / static_cast<double>(means.size());
  for (const double value : means) squares += (value - mean) * (value - mean);
  const auto [low, high] = outer_quantiles(means, 0.5 * (1.0 - level));
  return {.interval = {.kind = std::move(kind), .low = low, .high = high, .level = level},
          .standard_error = std::sqrt(squares / static_cast<double>(means.size()))};
}

Bootstrap bootstrap_mean(std::span<const double> values, double level, int64_t draws) {
  require_share(level, "the level of an interval");
  require(draws > 0, "statistics: a bootstrap takes one draw or more (found: {})", draws);
  if (!(describe(values).sd > 0.0)) return {.interval = {.level = level}};
  const bool exact = std::ssize(values) <= kBootstrapExact;
  Resampled means = resampled(exact ? means_of_all(values) : means_of_drawn(values, draws), "bootstrap", level);
  return {.interval = std::move(means.interval), .standard_error = means.standard_error, .exact = exact};
}

Interval percentile_interval(std::vector<double> resampled_scores, double level) {
  require_share(level, "the level of an interval");
  if (!(describe(resampled_scores).sd > 0.0)) return {.level = level};
  return resampled(std::move(resampled_scores), "bootstrap", level).interval;
}

}  // namespace ordo
