// SPDX-License-Identifier: Apache-2.0
// Errors of predicted numbers, for regression and forecasting. An example is one prediction, or one window of a series
// with all its steps and channels; means are over single numbers, not over windows.
#pragma once
#include "ordo/metrics/measure.h"

namespace ordo {

// With e = predicted - actual:
//   mse    mean of e²                                 mae   mean of |e|
//   smape  mean of 200 |e| / (|predicted| + |actual|), in percent, 0 to 200; 0 where both are 0 (Makridakis 1993, in
//          the form of the M4 competition)
//   mase   mean of |e| / scale (Hyndman and Koehler 2006), the scale being the error of the seasonal naive forecast
//          within the series' own history; below 1 is better than that. Only windows with a scale above 0 count: there
//          is none for a history that is constant. NaN when there is no such window.
// Numbers whose actual value is NaN are missing and do not count; a window without any has NaN in all four.
class ForecastErrors : public SumMetric {
 public:
  ForecastErrors() : SumMetric(6) {}
  // Throws DataError when there are more predictions than actual values or fewer, NumericError for a prediction that is
  // not finite where there is an actual value. scale: see naive_scale; NaN: none is known.
  void add(std::span<const double> predicted, std::span<const double> actual, double scale = kNoNumber);
  std::vector<std::string> names() const override { return {"mse", "mae", "smape", "mase"}; }

 protected:
  std::vector<double> scores(std::span<const double> sums) const override;
};

// The mean of |y(t) - y(t - period)| over a series' history (its training part), pairs with a missing value (NaN) left
// out. NaN when there is no pair. period 1: the naive forecast, the last value; throws ConfigError below 1.
double naive_scale(std::span<const double> history, int64_t period = 1);

}  // namespace ordo
