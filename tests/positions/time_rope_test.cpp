// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "positions/rotary.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

Positions at_times(const std::vector<double>& stamps) {
  const auto length = static_cast<int64_t>(stamps.size());
  return {.index = at::arange(length).unsqueeze(0), .coords = at::tensor(stamps, at::kDouble).view({1, length, 1})};
}

}  // namespace

TEST_CASE("time_rope: turns by the time since the origin, counted in units", "[unit]") {
  const auto encoding = position_of("{kind: time_rope, unit: 60, origin: 1000}", heads_of(8));
  const Tensor turn = turn_of(*encoding, at_times({1000.0, 1030.0, 1150.0, 940.0}), 8, at::kDouble)[0];
  CHECK(close(turn[0].slice(0, 0, 4), at::ones({4}, at::kDouble), Tolerance{1e-12, 0.0}));
  const Tensor steps = at::tensor({0.0, 0.5, 2.5, -1.0}, at::kDouble).unsqueeze(1);
  const Tensor angles = steps * at::tensor({1.0, 0.1, 0.01, 0.001}, at::kDouble);
  CHECK(close(turn.slice(1, 0, 4), angles.cos(), Tolerance{1e-12, 0.0}));
  CHECK(close(turn.slice(1, 4), angles.sin(), Tolerance{1e-12, 0.0}));
}

TEST_CASE("time_rope: without stamps the index is the time, so that it is rope", "[unit]") {
  const Tensor x = noise({1, 2, 5, 8}, 1);
  const Positions at = consecutive(30, 5, at::kCPU);
  const Tensor want = position_of("rope", heads_of(8))->query(x, at, 0);
  CHECK(same_bytes(position_of("time_rope", heads_of(8))->query(x, at, 0), want));
  CHECK_FALSE(close(position_of("{kind: time_rope, unit: 2}", heads_of(8))->query(x, at, 0), want, Tolerance::bf16));
}

TEST_CASE("time_rope: scores depend on the time between tokens, not on their places or the clock", "[unit]") {
  const auto encoding = position_of("{kind: time_rope, unit: 3600}", heads_of(8));
  const Tensor q = noise({1, 1, 4, 8}, 2), k = noise({1, 1, 4, 8}, 3);
  const Tensor here = turned_scores(*encoding, q, k, at_times({0.0, 3600.0, 9000.0, 9000.5}));
  const double now = 1.7e9;  // seconds since 1970: fp32 would round them to steps of 128
  const Tensor there = turned_scores(*encoding, q, k, at_times({now, now + 3600.0, now + 9000.0, now + 9000.5}));
  CHECK(close(there, here, Tolerance::fp32_sum));
  CHECK_FALSE(close(turned_scores(*encoding, q, k, at_times({0.0, 7200.0, 9000.0, 9000.5})), here, Tolerance::bf16));
}

TEST_CASE("time_rope: stamps of seconds since 1970 turn to 1e-6 radians of the time between them", "[unit]") {
  const auto encoding = position_of("time_rope", heads_of(8));
  const double now = 1700000000.0;
  const Tensor turn = turn_of(*encoding, at_times({now, now + 10.25}), 8, at::kDouble)[0];
  const Tensor c = turn.slice(1, 0, 4), s = turn.slice(1, 4);
  const Tensor between = (s[1] * c[0] - c[1] * s[0]);  // the sine of the angle from the first to the second
  CHECK(close(between, (at::tensor({1.0, 0.1, 0.01, 0.001}, at::kDouble) * 10.25).sin(), Tolerance{1e-6, 0.0}));
}

TEST_CASE("time_rope: a key turned in an earlier call fits a query that comes later", "[unit]") {
  const auto encoding = position_of("{kind: time_rope, unit: 10}", heads_of(8));
  const Tensor q = noise({1, 1, 3, 8}, 4), k = noise({1, 1, 3, 8}, 5);
  const Tensor whole = turned_scores(*encoding, q, k, at_times({500.0, 512.0, 570.0}));
  const Tensor keys = encoding->key(k.slice(2, 0, 2), at_times({500.0, 512.0}), 0);
  const Tensor query = encoding->query(q.slice(2, 2), at_times({570.0}), 0);
  CHECK(close(query.matmul(keys.transpose(2, 3)), whole.slice(2, 2).slice(3, 0, 2), Tolerance::fp32_sum));
}

TEST_CASE("time_rope: stamps of two axes are refused", "[unit]") {
  const Positions two{.index = at::zeros({1, 1}, at::kLong), .coords = at::zeros({1, 1, 2})};
  CHECK_THROWS_WITH(position_of("time_rope", heads_of(8))->query(noise({1, 1, 1, 8}, 1), two, 0),
                    Catch::Contains("one coordinate a token, found 2"));
}

}  // namespace ordo::test
