// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/distributions.h"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numbers>

namespace ordo {

namespace {

namespace policies = boost::math::policies;
// Limits are answers here (a tail that underflows is 0): nothing is thrown for them.
using Quiet = policies::policy<policies::overflow_error<policies::ignore_error>,
                               policies::underflow_error<policies::ignore_error>,
                               policies::evaluation_error<policies::ignore_error>>;

double chi_squared_below(double x, double degrees) {
  return boost::math::cdf(boost::math::chi_squared_distribution<double, Quiet>(degrees), x);
}

double normal_density(double z) { return std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi); }

}  // namespace

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

double t_quantile(double p, double degrees) {
  return boost::math::quantile(boost::math::students_t_distribution<double, Quiet>(degrees), p);
}

double beta_quantile(double p, double a, double b) {
  return boost::math::quantile(boost::math::beta_distribution<double, Quiet>(a, b), p);
}

double chi_squared_above(double x, double degrees) {
  const boost::math::chi_squared_distribution<double, Quiet> distribution(degrees);
  return boost::math::cdf(boost::math::complement(distribution, std::max(x, 0.0)));
}

double noncentral_t_outside(double t, double degrees, double centre) {
  // So far out Boost's series runs over 32 bits, and the normal deviate is nothing beside the centre: T is the centre
  // over the root of a χ².
  constexpr double kFar = 1e4;
  if (std::abs(centre) > kFar) return t > 0.0 ? chi_squared_below(degrees * (centre / t) * (centre / t), degrees) : 1.0;
  const boost::math::non_central_t_distribution<double, Quiet> distribution(degrees, centre);
  const double above = boost::math::cdf(boost::math::complement(distribution, t));
  return std::clamp(above + boost::math::cdf(distribution, -t), 0.0, 1.0);
}

double normal_range_cdf(double r, int64_t k) {
  if (r <= 0.0) return 0.0;
  // The trapezoid rule converges geometrically for what falls off like a Gaussian on both sides; beyond ±9 the density
  // is below 1e-18.
  constexpr double kReach = 9.0, kStep = 1.0 / 32;
  double sum = 0.0;
  for (double z = -kReach; z <= kReach; z += kStep)
    sum += normal_density(z) * std::pow(normal_cdf(z) - normal_cdf(z - r), static_cast<double>(k - 1));
  return std::min(1.0, static_cast<double>(k) * sum * kStep);
}

double normal_range_quantile(double p, int64_t k) {
  if (p <= 0.0) return 0.0;
  if (p >= 1.0) return std::numeric_limits<double>::infinity();
  double low = 0.0, high = 1.0;
  while (high < 64.0 && normal_range_cdf(high, k) < p) high *= 2.0;
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (normal_range_cdf(middle, k) < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace ordo
