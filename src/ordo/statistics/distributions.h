// SPDX-License-Identifier: Apache-2.0
// The distributions that the tests and intervals here need, from Boost.Math, and the studentized range, which it lacks.
#pragma once
#include <cstdint>

namespace ordo {

double normal_cdf(double x);
double t_quantile(double p, double degrees);
double beta_quantile(double p, double a, double b);
double chi_squared_above(double x, double degrees);  // P(X > x)
// P(|T| > t) of the noncentral t distribution, t >= 0; to 1e-4 only where the centre lies beyond ±10^4.
double noncentral_t_outside(double t, double degrees, double centre);

// The range of k independent standard normals, the studentized range with infinitely many degrees of freedom:
// P(R <= r) = k ∫ φ(z) (Φ(z) - Φ(z - r))^(k - 1) dz, and its quantile. k >= 2.
double normal_range_cdf(double r, int64_t k);
double normal_range_quantile(double p, int64_t k);

}  // namespace ordo
