// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/bootstrap.h"

#include <cmath>
#include <vector>

#include "ordo/core/errors.h"
#include "statistics/stored.h"

namespace ordo::test {

TEST_CASE("bootstrap: up to 6 values every resample is counted", "[golden]") {
  for (const Json& c : stored("bootstrap", "enumerated")) {
    const Bootstrap found = bootstrap_mean(numbers(c.at("values")), c.at("level"));
    CHECK(found.exact);
    CHECK(found.interval.kind == "bootstrap");
    CHECK(found.interval.low == nearly(c.at("low")));
    CHECK(found.interval.high == nearly(c.at("high")));
    CHECK(found.standard_error == nearly(c.at("standard_error")));
  }
}

TEST_CASE("bootstrap: above 6 values a fixed draw comes as near to scipy's as so many draws can", "[golden]") {
  for (const Json& c : stored("bootstrap", "drawn")) {
    const std::vector<double> values = numbers(c.at("values"));
    const Bootstrap found = bootstrap_mean(values);
    CHECK_FALSE(found.exact);
    CHECK(found.interval.low == Approx(c.at("low").get<double>()).margin(4.0 * c.at("spread_low").get<double>()));
    CHECK(found.interval.high == Approx(c.at("high").get<double>()).margin(4.0 * c.at("spread_high").get<double>()));
    const double expected = c.at("standard_error");
    CHECK(found.standard_error == Approx(expected).epsilon(4.0 / std::sqrt(2.0 * kBootstrapDraws)));
    CHECK(found.interval.low == bootstrap_mean(values).interval.low);
  }
}

TEST_CASE("bootstrap: none from fewer than two values, equal ones, or what is no number", "[unit]") {
  const std::vector<double> none, one{1}, equal{2, 2, 2}, broken{1, std::nan("")};
  for (const auto& values : {none, one, equal, broken}) {
    const Bootstrap found = bootstrap_mean(values);
    CHECK_FALSE(found.interval.exists());
    CHECK(std::isnan(found.standard_error));
  }
  CHECK_THROWS_AS(bootstrap_mean(equal, 2.0), Error);
  CHECK_THROWS_AS(bootstrap_mean(equal, 0.95, 0), Error);
}

TEST_CASE("bootstrap: the lowest of three values alone is likelier than a tail of 0.025", "[unit]") {
  const std::vector<double> values{1, 2, 4};
  const Bootstrap found = bootstrap_mean(values), narrow = bootstrap_mean(values, 0.9);
  CHECK(found.interval.low == 1.0);  // 1 of 27 resamples
  CHECK(found.interval.high == 4.0);
  CHECK(narrow.interval.low == Approx(4.0 / 3));  // 4 of 27
  CHECK(narrow.interval.high == Approx(10.0 / 3));
}

TEST_CASE("bootstrap: any score's resampled values have a percentile interval, none without spread", "[unit]") {
  std::vector<double> scores;
  for (int i = 40; i > 0; --i) scores.push_back(i);
  const Interval found = percentile_interval(scores, 0.9);
  CHECK(found.kind == "bootstrap");
  CHECK(found.low == 2.0);  // 2 of 40 are 0.05 of them
  CHECK(found.high == 39.0);
  CHECK_FALSE(percentile_interval({}).exists());
  CHECK_FALSE(percentile_interval({3.0, 3.0, 3.0}).exists());
  CHECK_FALSE(percentile_interval({3.0, std::nan("")}).exists());
  CHECK_THROWS_AS(percentile_interval(scores, 1.0), Error);
}

}  // namespace ordo::test
