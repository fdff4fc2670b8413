// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/distributions.h"

#include <cmath>

#include "statistics/stored.h"

namespace ordo::test {

TEST_CASE("distributions: quantiles and tails are scipy's", "[golden]") {
  const Json all = stored("distributions");
  for (const Json& c : all.at("t_quantile")) CHECK(t_quantile(c.at("p"), c.at("degrees")) == nearly(c.at("value")));
  for (const Json& c : all.at("beta_quantile"))
    CHECK(beta_quantile(c.at("p"), c.at("a"), c.at("b")) == nearly(c.at("value")));
  for (const Json& c : all.at("chi_squared_above"))
    CHECK(chi_squared_above(c.at("x"), c.at("degrees")) == nearly(c.at("value")));
  for (const Json& c : all.at("noncentral_t_outside"))
    CHECK(noncentral_t_outside(c.at("t"), c.at("degrees"), c.at("centre")) == nearly(c.at("value")));
}

TEST_CASE("distributions: the range of normals is scipy's studentized range without an estimated spread", "[golden]") {
  const Json all = stored("distributions");
  for (const Json& c : all.at("normal_range_cdf"))
    CHECK(normal_range_cdf(c.at("r"), c.at("k")) == nearly(c.at("value")));
  for (const Json& c : all.at("normal_range_quantile"))
    CHECK(normal_range_quantile(c.at("p"), c.at("k")) == nearly(c.at("value")));
}

TEST_CASE("distributions: the range of two normals is √2 times one normal's distance from 0", "[unit]") {
  for (const double r : {0.2, 1.0, 2.7, 5.0})
    CHECK(normal_range_cdf(r, 2) == Approx(2.0 * normal_cdf(r / std::sqrt(2.0)) - 1.0).epsilon(1e-12));
}

TEST_CASE("distributions: ends of the range are answers", "[unit]") {
  CHECK(normal_range_cdf(0.0, 3) == 0.0);
  CHECK(normal_range_cdf(-1.0, 3) == 0.0);
  CHECK(normal_range_cdf(1000.0, 3) == Approx(1.0));
  CHECK(normal_range_quantile(0.0, 3) == 0.0);
  CHECK(std::isinf(normal_range_quantile(1.0, 3)));
}

TEST_CASE("distributions: a noncentral t far out goes over into its limit without a step", "[unit]") {
  for (const double centre : {9999.0, 10001.0, -10001.0})
    CHECK(noncentral_t_outside(10000.0, 5.0, centre) == Approx(0.584).margin(1e-3));
  CHECK(noncentral_t_outside(2.0, 5.0, 1e12) == 1.0);
}

}  // namespace ordo::test
