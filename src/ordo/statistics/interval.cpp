// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/interval.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ordo/statistics/distributions.h"
#include "ordo/statistics/inside.h"

namespace ordo {

namespace {

bool equal_up_to_rounding(std::span<const double> values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *high - *low <= kRounding * std::max(std::abs(*low), std::abs(*high));
}

}  // namespace

Sample describe(std::span<const double> values) {
  Sample sample{.n = static_cast<int64_t>(values.size())};
  if (values.empty() || !all_finite(values)) return sample;
  const double n = static_cast<double>(values.size());
  sample.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() < 2) return sample;
  if (equal_up_to_rounding(values)) {
    sample.sd = 0.0;
    return sample;
  }
  double squares = 0.0;
  for (const double value : values) squares += (value - sample.mean) * (value - sample.mean);
  sample.sd = std::sqrt(squares / (n - 1.0));
  return sample;
}

Interval t_interval(std::span<const double> values, double level) {
  require_share(level, "the level of an interval");
  const Sample sample = describe(values);
  if (!(sample.sd > 0.0)) return {.level = level};
  const double n = static_cast<double>(sample.n);
  const double half = t_quantile(0.5 * (1.0 + level), n - 1.0) * sample.sd / std::sqrt(n);
  return {.kind = "t", .low = sample.mean - half, .high = sample.mean + half, .level = level};
}

Interval exact_interval(double successes, int64_t trials, double level) {
  require_share(level, "the level of an interval");
  const double n = static_cast<double>(trials);
  if (trials < 1 || !(successes >= 0.0 && successes <= n)) return {.level = level};
  const double tail = 0.5 * (1.0 - level);
  return {.kind = "exact",
          .low = successes == 0.0 ? 0.0 : beta_quantile(tail, successes, n - successes + 1.0),
          .high = successes == n ? 1.0 : beta_quantile(1.0 - tail, successes + 1.0, n - successes),
          .level = level};
}

Interval items_interval(std::span<const double> items, int64_t twins, double level) {
  require_share(level, "the level of an interval");
  const bool shares = std::all_of(items.begin(), items.end(), [](double item) { return item >= 0.0 && item <= 1.0; });
  if (!shares || twins < 1 || items.size() % static_cast<size_t>(twins) != 0) return {.level = level};
  const double right = std::accumulate(items.begin(), items.end(), 0.0) / static_cast<double>(twins);
  const auto trials = static_cast<int64_t>(items.size()) / twins;
  return exact_interval(right, trials, level);
}

Interval items_difference(std::span<const double> a, std::span<const double> b, int64_t twins, double level) {
  require_share(level, "the level of an interval");
  const double each = 0.5 * (1.0 + level);
  const Interval of_a = items_interval(a, twins, each), of_b = items_interval(b, twins, each);
  if (!of_a.exists() || !of_b.exists()) return {.level = level};
  return {.kind = "exact", .low = of_a.low - of_b.high, .high = of_a.high - of_b.low, .level = level};
}

}  // namespace ordo
