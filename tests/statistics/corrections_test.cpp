// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/corrections.h"

#include <cmath>

#include "statistics/stored.h"

namespace ordo::test {

TEST_CASE("corrections: Holm's by its closed form, Benjamini and Hochberg's as scipy's", "[golden]") {
  for (const Json& c : stored("corrections")) {
    const std::vector<double> p = numbers(c.at("p")), by_holm = holm(p), by_rate = benjamini_hochberg(p);
    REQUIRE(by_holm.size() == p.size());
    REQUIRE(by_rate.size() == p.size());
    for (size_t i = 0; i < p.size(); ++i) {
      CHECK(by_holm[i] == nearly(c.at("holm")[i]));
      CHECK(by_rate[i] == nearly(c.at("benjamini_hochberg")[i]));
    }
  }
}

TEST_CASE("corrections: five comparisons at the smallest p of 8 seeds stay below 0.05, of 7 they do not", "[unit]") {
  CHECK(holm(std::vector<double>(5, 1.0 / 128))[0] == 5.0 / 128);
  CHECK(holm(std::vector<double>(5, 1.0 / 64))[0] > 0.05);
  CHECK(holm(std::vector<double>{0.7, 0.6}) == std::vector<double>{1.0, 1.0});  // at most 1
}

TEST_CASE("corrections: a comparison without an answer counts among the others as 1", "[unit]") {
  const std::vector<double> p{0.02, std::nan("")};
  CHECK(holm(p) == std::vector<double>{0.04, 1.0});
  CHECK(benjamini_hochberg(p) == std::vector<double>{0.04, 1.0});
  CHECK(holm({}).empty());
  CHECK(benjamini_hochberg({}).empty());
}

}  // namespace ordo::test
