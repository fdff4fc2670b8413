// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/interval.h"

#include <cmath>
#include <vector>

#include "ordo/core/errors.h"
#include "statistics/stored.h"

namespace ordo::test {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_none(const Interval& interval) {
  return !interval.exists() && std::isnan(interval.low) && std::isnan(interval.high) && !interval.contains(0.0);
}

}  // namespace

TEST_CASE("interval: Student's over repetitions is scipy's", "[golden]") {
  for (const Json& c : stored("interval", "t")) {
    const std::vector<double> values = numbers(c.at("values"));
    const Sample sample = describe(values);
    CHECK(sample.n == static_cast<int64_t>(values.size()));
    CHECK(sample.mean == nearly(c.at("mean")));
    CHECK(sample.sd == nearly(c.at("sd")));
    const Interval interval = t_interval(values, c.at("level"));
    CHECK(interval.kind == "t");
    CHECK(interval.level == c.at("level").get<double>());
    CHECK(interval.low == nearly(c.at("low")));
    CHECK(interval.high == nearly(c.at("high")));
    CHECK(interval.contains(sample.mean));
  }
}

TEST_CASE("interval: Clopper and Pearson's is scipy's", "[golden]") {
  for (const Json& c : stored("interval", "exact")) {
    const Interval interval = exact_interval(c.at("successes"), c.at("trials"), c.at("level"));
    CHECK(interval.kind == "exact");
    CHECK(interval.low == nearly(c.at("low")));
    CHECK(interval.high == nearly(c.at("high")));
  }
}

TEST_CASE("interval: none from fewer than two repetitions, from equal ones, or from what is no number", "[unit]") {
  const std::vector<double> none, one{0.5}, equal{0.1, 0.1, 0.1}, broken{0.5, std::nan(""), 0.6},
      endless{0.5, kInfinity};
  for (const auto& values : {none, one, equal, broken, endless}) CHECK(is_none(t_interval(values)));
  CHECK(std::isnan(describe(none).mean));
  CHECK(describe(none).n == 0);
  CHECK(describe(one).mean == 0.5);
  CHECK(std::isnan(describe(one).sd));
  CHECK(describe(equal).mean == Approx(0.1));
  CHECK(describe(equal).sd == 0.0);
  CHECK(std::isnan(describe(broken).mean));
  CHECK(std::isnan(describe(broken).sd));
}

TEST_CASE("interval: values that differ by rounding alone have no spread", "[unit]") {
  const std::vector<double> values{0.3, 0.1 + 0.2, 0.9 - 0.6};
  CHECK(values[0] != values[1]);
  CHECK(describe(values).sd == 0.0);
  CHECK(is_none(t_interval(values)));
  CHECK(describe(std::vector<double>{0.3, 0.3 + 1e-9}).sd > 0.0);
}

TEST_CASE("interval: no trial, or more successes than trials, have none", "[unit]") {
  CHECK(is_none(exact_interval(0, 0)));
  CHECK(is_none(exact_interval(-1, 4)));
  CHECK(is_none(exact_interval(5, 4)));
  CHECK(is_none(exact_interval(std::nan(""), 4)));
}

TEST_CASE("interval: items of a pair count once", "[unit]") {
  const std::vector<double> pairs{1, 0, 0, 1, 1, 0, 1, 0};  // each pair half right
  const Interval interval = items_interval(pairs, 2), counted = exact_interval(2, 4);
  CHECK(interval.low == counted.low);
  CHECK(interval.high == counted.high);
  CHECK(items_interval(pairs, 1).low > interval.low);
}

TEST_CASE("interval: shares of items add up to successes", "[unit]") {
  const std::vector<double> thirds(30, 1.0 / 3.0), full(7, 1.0);
  CHECK(items_interval(thirds).high == Approx(exact_interval(10, 30).high));
  CHECK(items_interval(full).high == 1.0);
  CHECK(items_interval(full).low == Approx(std::pow(0.025, 1.0 / 7.0)));  // (α / 2)^(1 / n)
}

TEST_CASE("interval: items outside [0, 1], or that do not pair up, have none", "[unit]") {
  CHECK(is_none(items_interval({})));
  CHECK(is_none(items_interval(std::vector<double>{0.5, 1.5})));
  CHECK(is_none(items_interval(std::vector<double>{0.5, std::nan("")})));
  CHECK(is_none(items_interval(std::vector<double>{1, 1, 0}, 2)));
  CHECK(is_none(items_interval(std::vector<double>{1, 1}, 0)));
}

TEST_CASE("interval: of a difference of items, each side at half the error", "[unit]") {
  const std::vector<double> right(40, 1.0);
  std::vector<double> half(40, 0.0);
  for (size_t i = 0; i < half.size(); i += 2) half[i] = 1.0;
  const Interval difference = items_difference(right, half);
  CHECK(difference.level == 0.95);
  CHECK(difference.low == Approx(exact_interval(40, 40, 0.975).low - exact_interval(20, 40, 0.975).high));
  CHECK(difference.high == Approx(1.0 - exact_interval(20, 40, 0.975).low));
  CHECK(is_none(items_difference(right, {})));
}

TEST_CASE("interval: a level outside (0, 1) is refused", "[unit]") {
  const std::vector<double> values{1, 2, 3};
  for (const double level : {0.0, 1.0, 95.0, std::nan("")}) {
    CHECK_THROWS_AS(t_interval(values, level), Error);
    CHECK_THROWS_AS(exact_interval(1, 3, level), Error);
    CHECK_THROWS_AS(items_interval(values, 1, level), Error);
    CHECK_THROWS_AS(items_difference(values, values, 1, level), Error);
  }
}

}  // namespace ordo::test
