// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/ranks.h"

#include <cmath>

#include "ordo/core/errors.h"
#include "statistics/stored.h"

namespace ordo::test {

using Blocks = std::vector<std::vector<double>>;

TEST_CASE("ranks: mean ranks, Friedman's test and Nemenyi's difference are scipy's", "[golden]") {
  for (const Json& c : stored("ranks")) {
    const auto values = c.at("values").get<Blocks>();
    const RankTable table = rank_table(values, /*larger_is_better=*/true);
    CHECK(table.blocks == static_cast<int64_t>(values.size()));
    REQUIRE(table.ranks.size() == values.front().size());
    for (size_t arm = 0; arm < table.ranks.size(); ++arm) CHECK(table.ranks[arm] == nearly(c.at("ranks")[arm]));
    CHECK(table.friedman == nearly(c.at("friedman")));
    CHECK(table.p == nearly(c.at("p")));
    if (table.blocks >= 10) CHECK(table.critical_difference == nearly(c.at("critical_difference")));
    if (table.blocks < 10) CHECK(std::isnan(table.critical_difference));
  }
}

TEST_CASE("ranks: Demšar's table of critical values", "[unit]") {
  // q / √2 at 0.05 for 2, 3, 5 and 10 arms.
  const auto q = [](int64_t k) {
    const auto arms = static_cast<double>(k);
    return nemenyi_difference(k, 1) / std::sqrt(arms * (arms + 1.0) / 6.0);
  };
  CHECK(q(2) == Approx(1.960).margin(6e-4));
  CHECK(q(3) == Approx(2.343).margin(1e-3));
  CHECK(q(5) == Approx(2.728).margin(6e-4));
  CHECK(q(10) == Approx(3.164).margin(6e-4));
}

TEST_CASE("ranks: the best is 1, whichever way is better", "[unit]") {
  const Blocks values{{0.1, 0.9, 0.5}};
  CHECK(rank_table(values, true).ranks == std::vector<double>{3, 1, 2});
  CHECK(rank_table(values, false).ranks == std::vector<double>{1, 3, 2});
}

TEST_CASE("ranks: diverged runs are last together", "[unit]") {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  CHECK(rank_table(Blocks{{nan, 2.0, infinite, 1.0}}, false).ranks == std::vector<double>{3.5, 2, 3.5, 1});
  CHECK(rank_table(Blocks{{nan, 2.0, infinite, 1.0}}, true).ranks == std::vector<double>{3.5, 1, 3.5, 2});
}

TEST_CASE("ranks: nothing to tell apart", "[unit]") {
  CHECK(rank_table({}, true).ranks.empty());
  CHECK(rank_table({}, true).p == 1.0);
  CHECK(rank_table(Blocks{{0.5}, {0.7}}, true).ranks == std::vector<double>{1});
  CHECK(std::isnan(rank_table(Blocks(12, {0.5}), true).critical_difference));
  const RankTable ties = rank_table(Blocks(12, {0.5, 0.5, 0.5}), true);
  CHECK(ties.ranks == std::vector<double>{2, 2, 2});
  CHECK(ties.friedman == 0.0);
  CHECK(ties.p == 1.0);
}

TEST_CASE("ranks: blocks of different arms are refused", "[unit]") {
  CHECK_THROWS_AS(rank_table(Blocks{{1, 2}, {1, 2, 3}}, true), Error);
  CHECK_THROWS_AS(nemenyi_difference(1, 10), Error);
  CHECK_THROWS_AS(nemenyi_difference(3, 0), Error);
}

}  // namespace ordo::test
