// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "ordo/positions/sinusoidal.h"
#include "ordo/positions/time_sinusoidal.h"
#include "support/positions.h"
#include "support/times.h"
#include "support/tolerance.h"

namespace ordo::test {

TEST_CASE("time_sinusoidal: on the index it is sinusoidal", "[unit]") {
  TimeSinusoidal timed({}, small_facts());
  Sinusoidal plain({}, small_facts());
  const Tensor x = noise({2, 9, 32}, 1);
  for (const int64_t start : {0, 40}) {
    const Positions at = consecutive(start, 9, at::kCPU);
    CHECK(close(timed.input(x, at), plain.input(x, at), Tolerance::fp32));
  }
}

TEST_CASE("time_sinusoidal: stamps late in a century keep their fractions", "[unit]") {
  TimeSinusoidal timed({.clock = {.unit = 0.5}}, small_facts());
  const Tensor rows = timed.input(at::zeros({1, 3, 32}), stamped({1.7e9, 1.7e9 + 0.125, 1.7e9 + 3.0}))[0];
  CHECK(rows[0][0].item<double>() == 0.0);
  CHECK(rows[1][0].item<double>() == Approx(std::sin(0.25)).epsilon(1e-6));
  CHECK(rows[1][1].item<double>() == Approx(std::cos(0.25)).epsilon(1e-6));
  CHECK(rows[2][2].item<double>() == Approx(std::sin(6.0 * std::pow(10000.0, -2.0 / 32.0))).epsilon(1e-6));
}

TEST_CASE("time_sinusoidal: with an origin, a later call counts on", "[unit]") {
  TimeSinusoidal timed({.clock = {.unit = 60.0, .origin = 1000.0}}, small_facts());
  const Tensor x = noise({1, 4, 32}, 1);
  const Tensor whole = timed.input(x, stamped({1000, 1060, 1200, 1210}));
  CHECK(same_bytes(timed.input(x.slice(1, 2), stamped({1200, 1210}, 2)).contiguous(), whole.slice(1, 2).contiguous()));
  CHECK_THROWS_WITH(TimeSinusoidal({}, small_facts()).input(x.slice(1, 2), stamped({1200, 1210}, 2)),
                    Catch::Contains("time_sinusoidal: ") && Catch::Contains("origin"));
}

TEST_CASE("time_sinusoidal: frequencies are radians a unit of the stamps", "[unit]") {
  CHECK(TimeSinusoidal({.clock = {.unit = 4.0}}, small_facts()).frequencies(8)[0].item<double>() == 0.25);
}

}  // namespace ordo::test
