// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/tensor.h>

#include <cmath>

#include "positions/rotary.h"
#include "support/tolerance.h"

namespace ordo::test {

TEST_CASE("xpos: a score is that of rope, each pair times z_m to the distance over the base", "[unit]") {
  const auto encoding = position_of("{kind: xpos, scale_base: 4, gamma: 0.5}", heads_of(4));
  const Tensor q = noise({1, 1, 6, 4}, 1, at::kDouble), k = noise({1, 1, 6, 4}, 2, at::kDouble);
  const Tensor got = turned_scores(*encoding, q, k, consecutive(20, 6, at::kCPU))[0][0];
  // pairs 0 and 1 of 2: z = (0 + 0.5) / 1.5 = 1/3 and (0.5 + 0.5) / 1.5 = 2/3; w = 1 and 0.01
  for (const auto& [i, j] : std::vector<std::pair<int64_t, int64_t>>{{5, 5}, {5, 4}, {3, 0}, {5, 1}}) {
    const auto distance = static_cast<double>(i - j);
    double want = 0.0;
    for (int64_t m = 0; m < 2; ++m) {
      const double z = std::pow(m == 0 ? 1.0 / 3.0 : 2.0 / 3.0, distance / 4.0),
                   angle = distance * (m == 0 ? 1.0 : 0.01);
      const auto channel = [&](const Tensor& x, int64_t at, int64_t c) {
        return x[0][0][at][2 * m + c].item<double>();
      };
      const double a = channel(q, i, 0), b = channel(q, i, 1), c = channel(k, j, 0), d = channel(k, j, 1);
      want += z * ((a * c + b * d) * std::cos(angle) + (a * d - b * c) * std::sin(angle));
    }
    CHECK(got[i][j].item<double>() == Approx(want).epsilon(1e-9));
  }
}

TEST_CASE("xpos: a query alone and its keys share the centre that all had before", "[unit]") {
  const auto encoding = position_of("{kind: xpos, scale_base: 8}", heads_of(8));
  const Tensor q = noise({1, 2, 201, 8}, 3), k = noise({1, 2, 201, 8}, 4);
  const Tensor whole = turned_scores(*encoding, q, k, consecutive(0, 201, at::kCPU));
  for (const int64_t step : {1, 2, 77, 200}) {
    const Tensor query = encoding->query(q.slice(2, step, step + 1), consecutive(step, 1, at::kCPU), 0);
    const Tensor keys = encoding->key(k.slice(2, 0, step + 1), consecutive(0, step + 1, at::kCPU), 0);
    CHECK(close(query.matmul(keys.transpose(2, 3)), whole.slice(2, step, step + 1).slice(3, 0, step + 1),
                Tolerance::fp32_sum));
  }
}

TEST_CASE("xpos: each row has a centre of its own", "[unit]") {
  const auto encoding = position_of("{kind: xpos, scale_base: 4}", heads_of(8));
  const Tensor x = noise({2, 1, 40, 8}, 5);
  const Tensor index = at::cat({at::arange(40).unsqueeze(0), at::arange(40).clamp_max(9).unsqueeze(0)});
  const Tensor together = encoding->key(x, {.index = index}, 0);
  for (int64_t b = 0; b < 2; ++b)
    CHECK(close(together.slice(0, b, b + 1),
                encoding->key(x.slice(0, b, b + 1), {.index = index.slice(0, b, b + 1)}, 0), Tolerance::fp32));
  CHECK_FALSE(close(together[1][0][0], encoding->key(x.slice(0, 1, 2), consecutive(0, 40, at::kCPU), 0)[0][0][0],
                    Tolerance::bf16));
}

TEST_CASE("xpos: 16 000 tokens stay within fp32, masked scores too", "[unit]") {
  constexpr int64_t N = 16384;
  const auto encoding = position_of("xpos", heads_of(8));
  const Tensor q = noise({1, 1, N, 8}, 6), k = noise({1, 1, N, 8}, 7);
  const Positions at = consecutive(0, N, at::kCPU);
  const Tensor turned_q = encoding->query(q, at, 0), turned_k = encoding->key(k, at, 0);
  for (const Tensor& t : {turned_q, turned_k}) CHECK(t.isfinite().all().item<bool>());
  CHECK(turned_q[0][0][0].matmul(turned_k[0][0].t()).isfinite().all().item<bool>());  // all keys lie ahead of query 0
  const Tensor near = turned_q[0][0].slice(0, N - 4).matmul(turned_k[0][0].slice(0, N - 4).t());
  const Tensor start =
      turned_scores(*encoding, q.slice(2, N - 4), k.slice(2, N - 4), consecutive(0, 4, at::kCPU))[0][0];
  CHECK(close(near, start, Tolerance::fp32_sum));
}

TEST_CASE("xpos: rows over which its factors leave fp32 are refused in words", "[unit]") {
  const auto encoding = position_of("{kind: xpos, scale_base: 10}", heads_of(8));
  // 80 / (ln(1.4 / 0.4) / 10) = 638.6
  CHECK_FALSE(encoding->refuses_length(638).has_value());
  const auto refused = encoding->refuses_length(639);
  REQUIRE(refused.has_value());
  CHECK_THAT(*refused, Catch::Contains("639 tokens") && Catch::Contains("638") && Catch::Contains("scale_base (10)"));
}

TEST_CASE("xpos: gradients of queries are those of the turn", "[unit]") {
  const auto encoding = position_of("{kind: xpos, scale_base: 4}", heads_of(8));
  const Tensor q = noise({1, 2, 6, 8}, 8, at::kDouble).requires_grad_(), weight = noise({1, 2, 6, 8}, 9, at::kDouble);
  const Positions at = consecutive(0, 6, at::kCPU);
  (encoding->query(q, at, 0) * weight).sum().backward();
  const Tensor along = noise({1, 2, 6, 8}, 10, at::kDouble);  // the turn is linear: <J x, w> = <x, J^T w>
  CHECK((along * q.grad()).sum().item<double>() ==
        Approx((encoding->query(along, at, 0) * weight).sum().item<double>()).epsilon(1e-12));
}

TEST_CASE("xpos: a larger gamma or base fades less", "[unit]") {
  const auto kept = [](const std::string& settings) {  // of the fastest pair's score over ten tokens
    const auto encoding = position_of("{kind: xpos, " + settings + "}", heads_of(2));
    const Tensor one = at::ones({1, 1, 11, 2}, at::kDouble);
    const Positions at = consecutive(0, 11, at::kCPU);
    return encoding->query(one, at, 0)[0][0][10].norm().item<double>() *
           encoding->key(one, at, 0)[0][0][0].norm().item<double>() / 2.0;
  };
  CHECK(kept("scale_base: 10, gamma: 0.4") == Approx(0.4 / 1.4).epsilon(1e-12));
  CHECK(kept("scale_base: 20, gamma: 0.4") == Approx(std::sqrt(0.4 / 1.4)).epsilon(1e-12));
  CHECK(kept("scale_base: 10, gamma: 1") == Approx(0.5).epsilon(1e-12));
}

}  // namespace ordo::test
