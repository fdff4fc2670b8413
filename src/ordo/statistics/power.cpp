// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/power.h"

#include <algorithm>
#include <cmath>

#include "ordo/statistics/distributions.h"
#include "ordo/statistics/inside.h"
#include "ordo/statistics/interval.h"

namespace ordo {

double paired_power(double effect, int64_t seeds, double alpha) {
  require_share(alpha, "alpha");
  if (seeds < 2 || std::isnan(effect)) return kNoNumber;
  if (std::isinf(effect)) return 1.0;
  const auto n = static_cast<double>(seeds);
  return noncentral_t_outside(t_quantile(1.0 - 0.5 * alpha, n - 1.0), n - 1.0, effect * std::sqrt(n));
}

std::optional<int64_t> seeds_needed(double difference, double sd, double power, double alpha) {
  require_share(power, "the power");
  require_share(alpha, "alpha");
  constexpr int64_t kMost = 1'000'000;
  if (!std::isfinite(difference) || difference == 0.0 || !(sd >= 0.0)) return {};
  const double effect = std::abs(difference) / sd;
  int64_t enough = 2;
  while (paired_power(effect, enough, alpha) < power) {
    if (enough == kMost) return {};
    enough = std::min(2 * enough, kMost);
  }
  int64_t too_few = enough / 2;  // or 1, which is none
  while (enough - too_few > 1) {
    const int64_t middle = too_few + (enough - too_few) / 2;
    (paired_power(effect, middle, alpha) < power ? too_few : enough) = middle;
  }
  return enough;
}

}  // namespace ordo
