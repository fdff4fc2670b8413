// SPDX-License-Identifier: Apache-2.0
// What the units of this folder share.
#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "ordo/core/errors.h"
#include "ordo/statistics/interval.h"

namespace ordo {

inline constexpr double kRounding = 1e-12;  // relative; what sums in another order may differ by

inline bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

inline void require_share(double value, const char* what) {
  require(value > 0.0 && value < 1.0, "statistics: {} must lie between 0 and 1 (found: {})", what, value);
}

// The percentile interval of resampled means and their standard deviation.
struct Resampled {
  Interval interval;
  double standard_error = kNoNumber;
};
Resampled resampled(std::vector<double> means, std::string kind, double level);

}  // namespace ordo
