// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/forecast_errors.h"

#include <array>
#include <cmath>

#include "ordo/core/errors.h"

namespace ordo {

void ForecastErrors::add(std::span<const double> predicted, std::span<const double> actual, double scale) {
  require<DataError>(predicted.size() == actual.size(), "metrics: example {} has {} predictions for {} values",
                     examples() + 1, predicted.size(), actual.size());
  double squares = 0.0, sizes = 0.0, shares = 0.0, count = 0.0;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(actual[i])) continue;
    require<NumericError>(std::isfinite(predicted[i]), "metrics: prediction {} of example {} is not finite ({})", i + 1,
                          examples() + 1, predicted[i]);
    const double error = std::abs(predicted[i] - actual[i]), size = std::abs(predicted[i]) + std::abs(actual[i]);
    squares += error * error;
    sizes += error;
    shares += size > 0.0 ? error / size : 0.0;
    count += 1.0;
  }
  const bool scaled = scale > 0.0 && std::isfinite(scale);
  keep(std::array{squares, sizes, shares, count, scaled ? sizes / scale : 0.0, scaled ? count : 0.0});
}

std::vector<double> ForecastErrors::scores(std::span<const double> sums) const {
  const double count = sums[3];  // 0 / 0 is the NaN that is due
  return {sums[0] / count, sums[1] / count, 200.0 * sums[2] / count, sums[4] / sums[5]};
}

double naive_scale(std::span<const double> history, int64_t period) {
  require<ConfigError>(period >= 1, "metrics: the period of a seasonal naive forecast must be 1 or more (found: {})",
                       period);
  double sum = 0.0, count = 0.0;
  for (auto i = static_cast<size_t>(period); i < history.size(); ++i) {
    const double change = std::abs(history[i] - history[i - static_cast<size_t>(period)]);
    if (std::isnan(change)) continue;
    sum += change;
    count += 1.0;
  }
  return sum / count;
}

}  // namespace ordo
