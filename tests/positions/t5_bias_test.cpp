// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/positions/t5_bias.h"

#include <ATen/ops/zeros_like.h>

#include "positions/bias_checks.h"
#include "support/goldens.h"

namespace ordo::test {

namespace {
T5Bias t5_bias(const T5Bias::Config& config = {}, bool causal = true, int64_t heads = 3, int64_t layers = 1) {
  return {config, {.dim = 16, .heads = heads, .kv_heads = heads, .head_dim = 4, .layers = layers, .causal = causal}};
}
T5Bias drawn_t5(const T5Bias::Config& config = {}, bool causal = true, int64_t layers = 1) {
  T5Bias made = t5_bias(config, causal, 3, layers);
  initialise(made, 7, {}, layers);
  return made;
}
constexpr T5Bias::Config kFewBuckets{.num_buckets = 8, .max_distance = 10};
}  // namespace

TEST_CASE("t5_bias: buckets and biases are exactly those of another implementation", "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "t5_bias")) {
    INFO(golden.id());
    T5Bias encoding = t5_bias({.num_buckets = golden.param<int64_t>("num_buckets", 0),
                               .max_distance = golden.param<int64_t>("max_distance", 0)},
                              !golden.param("bidirectional", true), golden.param<int64_t>("heads", 3));
    if (golden.has("bucket")) {
      CHECK(same_bytes(encoding.buckets(golden.tensor("relative_position")), golden.tensor("bucket")));
    } else if (golden.has("bias")) {
      set_parameter(encoding, "weight", golden.tensor("weight"));
      const auto rows = golden.params().at("query_positions").get<std::vector<int64_t>>();
      const auto columns = golden.param<int64_t>("k_len", 0);
      const AttentionPass listed = call_at(places(rows), consecutive(0, columns, at::kCPU)),
                          run = last_rows(static_cast<int64_t>(rows.size()), columns);
      const Tolerance tolerance = golden.tolerance("bias");
      CHECK(close(dense_bias(*encoding.scores(listed), listed).detach(), golden.tensor("bias"), tolerance));
      CHECK(close(spread_bias(*encoding.scores(run), run).detach(), golden.tensor("bias"), tolerance));
    } else {
      FAIL("a case of another form");
    }
  }
}

TEST_CASE("t5_bias: causal buckets widen with the logarithm of the distance", "[unit]") {
  const T5Bias encoding = t5_bias({.num_buckets = 8, .max_distance = 20});
  // From 4 on: 4 + floor(4 ln(x / 4) / ln 5), at most 7. The future counts as distance 0.
  const Tensor distance = at::tensor({-5, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 20, 100000}, at::kLong);
  CHECK(
      same_bytes(encoding.buckets(-distance), at::tensor({0, 0, 1, 2, 3, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7}, at::kLong)));
}

TEST_CASE("t5_bias: a stack that sees both sides gives each side half of the buckets", "[unit]") {
  const T5Bias encoding = t5_bias({.num_buckets = 8, .max_distance = 20}, /*causal=*/false);
  const Tensor offset = at::tensor({-50, -3, -1, 0, 1, 3, 50}, at::kLong);  // key - query
  CHECK(same_bytes(encoding.buckets(offset), at::tensor({3, 2, 1, 0, 5, 6, 7}, at::kLong)));
}

TEST_CASE("t5_bias: each tile is a piece of the form by offset, wherever the text starts", "[unit]") {
  for (const bool causal : {true, false})
    for (const int64_t start : {0, 5000}) {
      T5Bias encoding = drawn_t5(kFewBuckets, causal);
      CHECK(tiles_agree(encoding, causal, start));
    }
}

TEST_CASE("t5_bias: positions with gaps get the bias of their distance", "[unit]") {
  for (const bool causal : {true, false}) {
    T5Bias encoding = drawn_t5(kFewBuckets, causal);
    CHECK(gaps_agree(encoding, causal));
  }
}

TEST_CASE("t5_bias: the table learns, by either form alike", "[unit]") {
  for (const bool causal : {true, false}) {
    T5Bias encoding = drawn_t5(kFewBuckets, causal);
    check_gradients_agree(encoding, causal);
  }
}

TEST_CASE("t5_bias: one table serves all layers, or each has its own", "[unit]") {
  for (const bool shared : {true, false}) {
    T5Bias encoding = drawn_t5({.shared = shared}, true, /*layers=*/2);
    AttentionPass first = last_rows(2, 4), second = first;
    second.layer = 1;
    CHECK(same_bytes(dense_bias(*encoding.scores(first), first).contiguous(),
                     dense_bias(*encoding.scores(second), second).contiguous()) == shared);
    CHECK(encoding.parameters()[0].numel() == (shared ? 1 : 2) * 32 * 3);
  }
}

TEST_CASE("t5_bias: first values spread by dim^-0.5, or as asked", "[unit]") {
  const auto spread_of = [](const T5Bias::Config& config) {
    return drawn_t5(config).parameters()[0].std().item<double>();
  };
  CHECK(spread_of({.num_buckets = 4096, .max_distance = 5000}) == Approx(0.25).epsilon(0.05));  // dim 16
  CHECK(spread_of({.num_buckets = 4096, .max_distance = 5000, .init_std = 0.02}) == Approx(0.02).epsilon(0.05));
}

TEST_CASE("t5_bias: biases of fp64 calls are fp64", "[unit]") {
  T5Bias encoding = drawn_t5();
  encoding.to(at::kDouble);
  AttentionPass pass = last_rows(1, 2);
  pass.x = at::zeros({1, 1, 4}, at::kDouble);
  CHECK(dense_bias(*encoding.scores(pass), pass).scalar_type() == at::kDouble);
}

TEST_CASE("t5_bias: buckets that cannot be are refused in words", "[unit]") {
  CHECK_THROWS_WITH(t5_bias({.num_buckets = 7}, false), Catch::StartsWith("t5_bias: num_buckets (7)"));
  CHECK_THROWS_WITH(t5_bias({.num_buckets = 2}, false), Catch::Contains("even number from 4 on"));
  CHECK_THROWS_WITH(t5_bias({.num_buckets = 32, .max_distance = 16}),
                    Catch::StartsWith("t5_bias: max_distance (16)") && Catch::Contains("num_buckets 32"));
  CHECK_NOTHROW(t5_bias({.num_buckets = 32, .max_distance = 16}, false));
}

}  // namespace ordo::test
