// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/modes.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ordo {

TwoModes two_modes(std::span<const double> values, double smallest_gap) {
  constexpr size_t kFewest = 3;
  constexpr double kTimesSpread = 3.0;
  if (values.size() < kFewest) return {};
  std::vector<double> sorted;
  std::copy_if(values.begin(), values.end(), std::back_inserter(sorted), [](double v) { return std::isfinite(v); });
  if (sorted.size() < values.size()) return {.found = !sorted.empty()};
  std::sort(sorted.begin(), sorted.end());
  size_t upper = 1;  // where the widest gap ends
  for (size_t i = 2; i < sorted.size(); ++i)
    if (sorted[i] - sorted[i - 1] > sorted[upper] - sorted[upper - 1]) upper = i;
  const double below = sorted[upper - 1], above = sorted[upper];
  const double spread = std::max(below - sorted.front(), sorted.back() - above);
  if (above - below < std::max(smallest_gap, kTimesSpread * spread) || above == below) return {};
  return {.found = true, .below = below, .above = above};
}

Solved count_solved(std::span<const double> values, double threshold, bool larger_is_better, double level) {
  Solved counted{.runs = static_cast<int64_t>(values.size())};
  for (const double value : values)
    counted.solved += std::isfinite(value) && (larger_is_better ? value >= threshold : value <= threshold);
  counted.interval = exact_interval(static_cast<double>(counted.solved), counted.runs, level);
  return counted;
}

}  // namespace ordo
