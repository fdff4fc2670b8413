// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/paired.h"

#include <cmath>
#include <vector>

#include "ordo/core/errors.h"
#include "statistics/stored.h"

namespace ordo::test {

TEST_CASE("paired: difference, interval, effect and exact p are scipy's", "[golden]") {
  for (const Json& c : stored("paired", "cases")) {
    const std::vector<double> a = numbers(c.at("a")), b = numbers(c.at("b"));
    INFO(c.at("a") << " against " << c.at("b"));
    const Paired paired = compare_paired(a, b);
    CHECK(paired.n == static_cast<int64_t>(a.size()));
    CHECK(paired.difference == nearly(c.at("difference")));
    CHECK(paired.sd == nearly(c.at("sd")));
    CHECK(paired.effect == nearly(c.at("effect")));
    CHECK(paired.interval.low == nearly(c.at("low")));
    CHECK(paired.interval.high == nearly(c.at("high")));
    CHECK(paired.wins == c.at("wins").get<int64_t>());
    CHECK(paired.ties == c.at("ties").get<int64_t>());
    CHECK(paired.p == nearly(c.at("p")));
    CHECK(paired.exact);
  }
}

TEST_CASE("paired: turning the arms round turns the signs and nothing else", "[unit]") {
  const std::vector<double> a{1.9, 2.0, 2.2, 1.8}, b{2.1, 2.1, 2.1, 2.1};
  const Paired forth = compare_paired(a, b), back = compare_paired(b, a);
  CHECK(back.difference == Approx(-forth.difference));
  CHECK(back.interval.low == Approx(-forth.interval.high));
  CHECK(back.p == forth.p);
  CHECK(forth.wins == 1);
  CHECK(back.wins == 3);
  CHECK(compare_paired(a, b, {.larger_is_better = false}).wins == 3);
}

TEST_CASE("paired: equal differences leave no interval but keep their p", "[unit]") {
  const std::vector<double> right(8, 1.0), chance(8, 0.5);
  const Paired paired = compare_paired(right, chance);
  CHECK(paired.difference == 0.5);
  CHECK(paired.sd == 0.0);
  CHECK(std::isinf(paired.effect));
  CHECK_FALSE(paired.interval.exists());
  CHECK(paired.p == 1.0 / 128);
  CHECK(paired.separated);
  CHECK(compare_paired(right, right).effect == 0.0);
  CHECK(compare_paired(right, right).p == 1.0);
  CHECK(compare_paired(right, right).ties == 8);
}

TEST_CASE("paired: pairs that differ by rounding alone are ties", "[unit]") {
  const Paired paired = compare_paired(std::vector<double>{0.1 + 0.2, 0.4}, std::vector<double>{0.3, 0.4});
  CHECK(paired.ties == 2);
  CHECK(paired.wins == 0);
  CHECK(paired.difference == 0.0);
}

TEST_CASE("paired: a diverged run leaves the wins over the other seeds and no more", "[unit]") {
  const Paired paired = compare_paired(std::vector<double>{0.9, std::nan(""), 0.8}, std::vector<double>{0.5, 0.5, 0.5});
  CHECK(std::isnan(paired.difference));
  CHECK_FALSE(paired.interval.exists());
  CHECK(paired.p == 1.0);
  CHECK(paired.wins == 2);
  CHECK_FALSE(paired.separated);
}

TEST_CASE("paired: none or one seed show nothing", "[unit]") {
  const Paired none = compare_paired({}, {}), one = compare_paired(std::vector<double>{1}, std::vector<double>{0});
  CHECK(std::isnan(none.difference));
  CHECK(none.p == 1.0);
  CHECK(one.difference == 1.0);
  CHECK(std::isnan(one.sd));
  CHECK(std::isnan(one.effect));
  CHECK_FALSE(one.interval.exists());
  CHECK(one.p == 1.0);
}

TEST_CASE("paired: values that do not pair up are refused", "[unit]") {
  CHECK_THROWS_AS(compare_paired(std::vector<double>{1, 2}, std::vector<double>{1}), Error);
}

TEST_CASE("paired: separated means every seed of one above every seed of the other", "[unit]") {
  const std::vector<double> low{0.5, 0.6, 0.55}, high{0.7, 0.9, 0.61}, across{0.7, 0.9, 0.6};
  CHECK(separated(low, high));
  CHECK(separated(high, low));
  CHECK_FALSE(separated(low, across));  // 0.6 is not above 0.6
  CHECK_FALSE(separated(across, low));
  CHECK_FALSE(separated(std::vector<double>{1, 2}, std::vector<double>{3, 4}));
  CHECK_FALSE(separated(low, std::vector<double>{0.7, 0.8, std::nan("")}));
}

TEST_CASE("paired: a winner takes a small p and an interval beyond the smallest difference", "[unit]") {
  const Interval above{.kind = "t", .low = 0.02, .high = 0.08}, below{.kind = "t", .low = -0.08, .high = -0.02};
  const Interval touching{.kind = "t", .low = 0.0, .high = 0.1};
  CHECK(names_winner(0.049, above));
  CHECK(names_winner(0.049, below));
  CHECK_FALSE(names_winner(0.05, above));
  CHECK_FALSE(names_winner(0.001, touching));
  CHECK_FALSE(names_winner(0.001, above, 0.02));
  CHECK_FALSE(names_winner(0.001, below, 0.02));
  CHECK(names_winner(0.001, above, 0.019));
  CHECK_FALSE(names_winner(0.001, Interval{}));
  CHECK_FALSE(names_winner(std::nan(""), above));
}

}  // namespace ordo::test
