// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "positions/rotary.h"
#include "support/tolerance.h"

namespace ordo::test {

TEST_CASE("mrope: each axis turns its own section of the pairs", "[unit]") {
  const auto encoding = position_of("{kind: mrope, mrope_section: [1, 2, 1]}", heads_of(8));
  const Positions at{.index = at::zeros({1, 1}, at::kLong),
                     .coords = at::tensor({3.0, 50.0, 700.0}, at::kDouble).view({1, 1, 3})};
  const Tensor want = at::tensor({3.0 * 1.0, 50.0 * 0.1, 50.0 * 0.01, 700.0 * 0.001}, at::kDouble).cos();
  CHECK(close(turn_of(*encoding, at, 8, at::kDouble)[0][0].slice(0, 0, 4), want, Tolerance{1e-12, 1e-12}));
}

TEST_CASE("mrope: text, with equal coordinates or with none, is turned as rope turns it", "[unit]") {
  const auto encoding = position_of("mrope", heads_of(16)), plain = position_of("rope", heads_of(16));
  const Tensor x = noise({2, 3, 5, 16}, 1);
  const Positions text = consecutive(7, 5, at::kCPU);
  Positions equal = text;
  equal.coords = text.index.unsqueeze(-1).expand({1, 5, 3}).to(at::kFloat);
  const Tensor want = plain->query(x, text, 0);
  CHECK(same_bytes(encoding->query(x, text, 0), want));
  CHECK(close(encoding->key(x, equal, 0), want, Tolerance::fp32));
}

TEST_CASE("mrope: sections left out are shared 2 : 3 : 3", "[unit]") {
  const auto turning = [](int64_t head_dim, int64_t axis) {  // how many pairs an axis turns
    const Tensor coords = at::zeros({1, 1, 3});
    coords[0][0][axis] = 1.0;
    const auto encoding = position_of("{kind: mrope, theta: 2}", heads_of(head_dim));
    const Tensor turn = turn_of(*encoding, {.index = at::zeros({1, 1}, at::kLong), .coords = coords}, head_dim)[0][0];
    return turn.slice(0, 0, head_dim / 2).ne(1.0).sum().item<int64_t>();
  };
  CHECK(turning(16, 0) == 2);
  CHECK(turning(16, 1) == 3);
  CHECK(turning(16, 2) == 3);
  CHECK(turning(8, 0) == 2);
  CHECK(turning(8, 1) == 1);
  CHECK(turning(8, 2) == 1);
}

TEST_CASE("mrope: coordinates of another number of axes are refused", "[unit]") {
  const auto encoding = position_of("mrope", heads_of(8));
  const Positions two{.index = at::zeros({1, 1}, at::kLong), .coords = at::zeros({1, 1, 2})};
  CHECK_THROWS_WITH(encoding->query(noise({1, 1, 1, 8}, 1), two, 0),
                    Catch::Contains("three coordinates") && Catch::Contains("found 2"));
}

TEST_CASE("mrope: scores depend on the distances along the axes", "[unit]") {
  const auto encoding = position_of("mrope", heads_of(16));
  const Tensor q = noise({1, 1, 4, 16}, 2), k = noise({1, 1, 4, 16}, 3);
  Positions at = consecutive(0, 4, at::kCPU);
  at.coords = (noise({1, 4, 3}, 4) * 5.0).round().to(at::kDouble);
  const Tensor here = turned_scores(*encoding, q, k, at);
  at.coords = at.coords + at::tensor({100.0, 7.0, 31.0}, at::kDouble);
  CHECK(close(turned_scores(*encoding, q, k, at), here, Tolerance::fp32_sum));
}

}  // namespace ordo::test
