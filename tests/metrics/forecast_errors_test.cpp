// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/forecast_errors.h"

#include "metrics/stored.h"
#include "ordo/core/errors.h"

namespace ordo::test {

TEST_CASE("forecast errors: MSE and MAE are scikit-learn's, sMAPE and MASE numpy's", "[golden]") {
  for (const Json& c : stored("forecasts")) {
    INFO(c.dump());
    ForecastErrors errors;
    for (size_t i = 0; i < c.at("actual").size(); ++i) {
      const double scale = naive_scale(numbers(c.at("histories").at(i)), c.at("period"));
      CHECK(same(scale, c.at("scales").at(i)));
      errors.add(numbers(c.at("predicted").at(i)), numbers(c.at("actual").at(i)), scale);
    }
    const auto found = values_of(errors), weighted = values_of(errors, numbers(c.at("weights")));
    for (const auto& [name, value] : c.at("values").items()) CHECK(same(found.at(name), value));
    for (const auto& [name, value] : c.at("weighted").items()) CHECK(same(weighted.at(name), value));
  }
}

TEST_CASE("forecast errors: MASE is scale-free and 1 for what errs like the naive forecast", "[unit]") {
  const std::vector<double> history{1, 3, 2, 5}, actual{4, 6}, predicted{6, 8};
  ForecastErrors errors;
  errors.add(predicted, actual, naive_scale(history));
  CHECK(values_of(errors).at("mase") == 1.0);
  CHECK(naive_scale(history, 2) == 1.5);
}

TEST_CASE("forecast errors: a constant history has no scale, a missing value no error", "[unit]") {
  ForecastErrors errors;
  errors.add(std::vector{1.0, 2.0}, std::vector{1.5, kNoNumber}, naive_scale(std::vector{2.0, 2.0, 2.0}));
  CHECK(values_of(errors).at("mae") == 0.5);
  CHECK(std::isnan(values_of(errors).at("mase")));
  CHECK(std::isnan(naive_scale(std::vector{2.0})));
  CHECK(naive_scale(std::vector{2.0, kNoNumber, 3.0, 5.0}) == 2.0);
}

TEST_CASE("forecast errors: what does not fit is refused", "[unit]") {
  ForecastErrors errors;
  CHECK_THROWS_AS(errors.add(std::vector{1.0}, {}), DataError);
  CHECK_THROWS_AS(errors.add(std::vector{kNoNumber}, std::vector{1.0}), NumericError);
  CHECK_THROWS_AS(naive_scale({}, 0), ConfigError);
}

}  // namespace ordo::test
