// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/positions/sandwich.h"

#include <cmath>

#include "positions/bias_checks.h"
#include "support/goldens.h"

namespace ordo::test {

namespace {
Sandwich sandwich(const Sandwich::Config& config = {}, int64_t heads = 2, bool causal = true) {
  return {config, {.heads = heads, .kv_heads = heads, .head_dim = 4, .layers = 1, .causal = causal}};
}
}  // namespace

TEST_CASE("sandwich: biases equal those of another implementation", "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "sandwich")) {
    INFO(golden.id());
    const bool causal = !golden.param("bidirectional", true);
    Sandwich encoding =
        sandwich({.sandwich_dim = golden.param<int64_t>("sandwich_dim", 0), .theta = golden.param("theta", 0.0)},
                 golden.param<int64_t>("heads", 0), causal);
    const Tensor want = golden.tensor("bias");
    const AttentionPass pass = last_rows(want.size(2), want.size(3), causal);
    const auto bias = encoding.scores(pass);
    const auto seen = [&](const Tensor& t) { return causal ? seen_of(t) : t; };
    CHECK(close(seen(dense_bias(*bias, pass)), seen(want), golden.tolerance("bias")));
    CHECK(close(seen(spread_bias(*bias, pass)), seen(want), golden.tolerance("bias")));
  }
}

TEST_CASE("sandwich: a bias is the sum of cosines over the head's share", "[unit]") {
  Sandwich encoding = sandwich({.sandwich_dim = 4, .theta = 100.0});
  const AttentionPass pass = last_rows(1, 6);
  const Tensor dense = dense_bias(*encoding.scores(pass), pass);
  // Frequencies 100^(-2/4) and 100^(-4/4); head 1 of 2 divides by 4, head 2 by 8.
  const double at_five = std::cos(5.0 / 10.0) + std::cos(5.0 / 100.0) - 2.0;
  CHECK(dense[0][0][0][0].item<double>() == Approx(at_five / 4.0));
  CHECK(dense[0][1][0][0].item<double>() == Approx(at_five / 8.0));
  CHECK(dense[0][1][0][5].item<double>() == 0.0);
}

TEST_CASE("sandwich: each tile is a piece of the form by offset, wherever the text starts", "[unit]") {
  for (const bool causal : {true, false})
    for (const int64_t start : {0, 100000}) {
      Sandwich encoding = sandwich({}, 3, causal);
      CHECK(tiles_agree(encoding, causal, start));
    }
}

TEST_CASE("sandwich: positions with gaps get the bias of their distance, on both sides", "[unit]") {
  Sandwich encoding = sandwich({}, 3, false);
  CHECK(gaps_agree(encoding, false));
}

TEST_CASE("sandwich: distances far past any table are right", "[unit]") {
  Sandwich encoding = sandwich({.sandwich_dim = 2, .theta = 10.0}, 1);
  const AttentionPass far = call_at(places({3000000}), places({7}));
  CHECK(dense_bias(*encoding.scores(far), far).item<double>() ==
        Approx((std::cos(2999993.0 / 10.0) - 1.0) / 8.0).epsilon(1e-6));
}

TEST_CASE("sandwich: biases of fp64 calls are those of fp64", "[unit]") {
  Sandwich encoding = sandwich({.sandwich_dim = 2, .theta = 10.0}, 1);
  AttentionPass pass = last_rows(1, 4);
  pass.x = at::zeros({1, 1, 4}, at::kDouble);
  const Tensor dense = dense_bias(*encoding.scores(pass), pass);
  CHECK(dense.scalar_type() == at::kDouble);
  CHECK(dense[0][0][0][0].item<double>() == Approx((std::cos(0.3) - 1.0) / 8.0).epsilon(1e-14));
}

TEST_CASE("sandwich: an odd width is refused with the next even one", "[unit]") {
  CHECK_THROWS_WITH(sandwich({.sandwich_dim = 7}),
                    Catch::StartsWith("sandwich: sandwich_dim (7)") && Catch::Contains("8"));
}

}  // namespace ordo::test
