// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/power.h"

#include <cmath>
#include <limits>

#include "ordo/core/errors.h"
#include "statistics/stored.h"

namespace ordo::test {

TEST_CASE("power: of the paired t-test, and the seeds it takes, are scipy's", "[golden]") {
  const Json all = stored("power");
  for (const Json& c : all.at("cases"))
    CHECK(paired_power(c.at("effect"), c.at("seeds"), c.at("alpha")) == nearly(c.at("power")));
  for (const Json& c : all.at("needed"))
    CHECK(seeds_needed(c.at("difference"), c.at("sd"), c.at("power"), c.at("alpha")) == c.at("seeds").get<int64_t>());
}

TEST_CASE("power: 3 seeds find 3 standard deviations in three cases of four, 5 find 2 in nine of ten", "[unit]") {
  CHECK(paired_power(3.0, 3) == Approx(0.75).margin(0.01));
  CHECK(paired_power(2.0, 5) == Approx(0.91).margin(0.01));
  CHECK(paired_power(3.0, 3, 0.05 / 5) == Approx(0.25).margin(0.01));
  CHECK(paired_power(2.0, 5, 0.05 / 5) == Approx(0.55).margin(0.01));
}

TEST_CASE("power: without an effect it is alpha, and one of any size is found for certain when it is large", "[unit]") {
  CHECK(paired_power(0.0, 4) == Approx(0.05));
  for (const double effect : {1e3, 1e6, 1e12, std::numeric_limits<double>::infinity()})
    CHECK(paired_power(effect, 5) == Approx(1.0));
}

TEST_CASE("power: what has no answer", "[unit]") {
  CHECK(std::isnan(paired_power(1.0, 1)));
  CHECK(std::isnan(paired_power(std::nan(""), 5)));
  CHECK_FALSE(seeds_needed(0.0, 1.0));
  CHECK_FALSE(seeds_needed(std::nan(""), 1.0));
  CHECK_FALSE(seeds_needed(1.0, std::nan("")));
  CHECK_FALSE(seeds_needed(1.0, -1.0));
  CHECK_FALSE(seeds_needed(1e-9, 1.0));
  CHECK(seeds_needed(1.0, 0.0) == 2);
  CHECK(seeds_needed(1e9, 1.0) == 2);
  CHECK_THROWS_AS(paired_power(1.0, 3, 0.0), Error);
  CHECK_THROWS_AS(seeds_needed(1.0, 1.0, 1.0), Error);
}

}  // namespace ordo::test
