// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "ordo/positions/alibi.h"
#include "support/goldens.h"
#include "support/positions.h"

namespace ordo::test {

namespace {

Alibi alibi(int64_t heads, const Alibi::Config& config = {}, bool causal = true) {
  return {config, {.heads = heads, .kv_heads = heads, .head_dim = 4, .layers = 1, .max_length = 8, .causal = causal}};
}

AttentionPass pass_of(const Positions& q, const Positions& k, bool causal) {
  return {.q = q, .k = k, .mask = {.causal = causal}};
}
// The last `rows` of `columns` positions look at all of them.
AttentionPass last_rows(int64_t rows, int64_t columns, bool causal) {
  return pass_of(consecutive(columns - rows, rows, at::kCPU), consecutive(0, columns, at::kCPU), causal);
}

// A vector by offset laid out as the matrix it stands for: [H, Lq, Lk].
Tensor spread(const Tensor& by_offset, int64_t rows, int64_t columns) {
  Tensor all = at::zeros({by_offset.size(0), rows, columns});
  for (int64_t i = 0; i < rows; ++i) all.select(1, i).copy_(by_offset.slice(1, rows - 1 - i, rows - 1 - i + columns));
  return all;
}

}  // namespace

TEST_CASE("alibi: slopes equal those of other implementations for any number of heads", "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "alibi")) {
    if (!golden.has("slopes")) continue;
    const auto heads = golden.param<int64_t>("heads", 0);
    Alibi encoding = alibi(heads, {.alibi_bias_max = golden.param("alibi_bias_max", 8.0)});
    const AttentionPass pass = last_rows(1, 2, true);  // the key at distance 1
    const Tensor got = -dense_bias(*encoding.scores(pass), pass).select(3, 0).flatten();
    INFO(golden.id());
    for (const std::string name : {"slopes", "slopes_mpt"})
      CHECK(close(got, golden.tensor(name), golden.tolerance(name)));
  }
}

TEST_CASE("alibi: two-sided biases equal those of other implementations", "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "alibi")) {
    if (!golden.params().contains("q_len")) continue;
    const auto rows = golden.param<int64_t>("q_len", 0), columns = golden.param<int64_t>("k_len", 0);
    const bool asymmetric = golden.params().contains("past_offset");
    Alibi encoding =
        alibi(golden.param<int64_t>("heads", 0),
              {.direction = asymmetric ? Alibi::Direction::asymmetric : Alibi::Direction::symmetric}, false);
    const AttentionPass pass = last_rows(rows, columns, false);
    const auto bias = encoding.scores(pass);
    INFO(golden.id());
    CHECK(close(dense_bias(*bias, pass).squeeze(0), golden.tensor("bias"), golden.tolerance("bias")));
    CHECK(close(spread(bias->by_offset().value(), rows, columns), golden.tensor("bias"), golden.tolerance("bias")));
  }
}

TEST_CASE("alibi: padded rows get another implementation's bias by key, up to a constant of the row",
          "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "alibi")) {
    if (!golden.has("mask")) continue;
    Alibi encoding = alibi(golden.param<int64_t>("heads", 0));
    const Positions at = from_padding(golden.tensor("mask").to(at::kBool));
    const Tensor got = encoding.scores(pass_of(at, at, true))->by_key().value(), want = golden.tensor("bias");
    INFO(golden.id());
    CHECK(close(got - got.slice(3, 0, 1), want - want.slice(3, 0, 1), golden.tolerance("bias")));
  }
}

TEST_CASE("alibi: the form by key differs from the whole bias by one constant a row", "[unit]") {
  for (const int64_t heads : {4, 6}) {
    Alibi encoding = alibi(heads);
    const AttentionPass pass = last_rows(3, 7, true);
    const auto bias = encoding.scores(pass);
    const Tensor difference = dense_bias(*bias, pass) - bias->by_key().value();
    CHECK(close(difference - difference.slice(3, 0, 1), at::zeros_like(difference), Tolerance::fp32));
  }
}

TEST_CASE("alibi: numbers by key are small near the last key, far into a long text", "[unit]") {
  Alibi encoding = alibi(2);
  const AttentionPass pass = pass_of(consecutive(1000000, 4, at::kCPU), consecutive(1000000, 4, at::kCPU), true);
  CHECK(encoding.scores(pass)->by_key()->abs().max().item<double>() < 1.0);
}

TEST_CASE("alibi: keys before a prefix's end are biased by distance on both sides", "[unit]") {
  Alibi encoding = alibi(2);
  AttentionPass pass = last_rows(3, 3, true);
  pass.mask.prefix = 3;
  const auto bias = encoding.scores(pass);
  CHECK_FALSE(bias->by_key().has_value());
  const Tensor dense = dense_bias(*bias, pass);
  CHECK(same_bytes(dense, dense.transpose(2, 3).contiguous()));
}

TEST_CASE("alibi: split lets one half of the heads look back and the other ahead", "[unit]") {
  Alibi encoding = alibi(4, {.direction = Alibi::Direction::split}, false);
  const AttentionPass pass = last_rows(3, 3, false);
  const Tensor weights = dense_bias(*encoding.scores(pass), pass).softmax(-1).squeeze(0);
  for (int64_t h = 0; h < 4; ++h) {
    CHECK((weights[h][0][2].item<double>() > 0.0) == (h >= 2));
    CHECK((weights[h][2][0].item<double>() > 0.0) == (h < 2));
  }
}

TEST_CASE("alibi: slopes of fp64 calls are those of fp64", "[unit]") {
  Alibi encoding = alibi(2, {.alibi_bias_max = 5.0});  // slopes that fp32 rounds
  AttentionPass pass = last_rows(1, 2, true);
  pass.x = at::zeros({1, 1, 4}, at::kDouble);
  const Tensor dense = dense_bias(*encoding.scores(pass), pass);
  CHECK(dense.scalar_type() == at::kDouble);
  CHECK(-dense[0][0][0][0].item<double>() == Alibi::slopes(2, 5.0)[0]);
}

TEST_CASE("alibi: real-valued positions are refused in words", "[unit]") {
  Alibi encoding = alibi(2);
  AttentionPass pass = last_rows(3, 3, true);
  pass.k.coords = at::zeros({1, 3, 1});
  CHECK_THROWS_WITH(encoding.scores(pass), Catch::Contains("real-valued positions"));
}

TEST_CASE("alibi: heads past num_alibi_heads have no bias", "[unit]") {
  Alibi encoding = alibi(4, {.num_alibi_heads = 2});
  const AttentionPass pass = last_rows(1, 3, true);
  const Tensor dense = dense_bias(*encoding.scores(pass), pass).squeeze(0);
  CHECK(dense.slice(0, 2).abs().max().item<double>() == 0.0);
  CHECK(same_bytes(-dense.select(2, 1).slice(0, 0, 2).flatten(),
                   at::tensor({0.0625, 0.00390625}, at::kFloat)));  // the slopes of two heads
}

TEST_CASE("alibi: directions that make no sense in a stack are refused in words", "[unit]") {
  CHECK_THROWS_WITH(alibi(4, {.direction = Alibi::Direction::causal}, false), Catch::Contains("reward the future"));
  CHECK_THROWS_WITH(alibi(4, {.direction = Alibi::Direction::split}, true), Catch::Contains("use causal"));
  CHECK_THROWS_WITH(alibi(3, {.direction = Alibi::Direction::split}, false), Catch::Contains("even number"));
  CHECK_THROWS_WITH(alibi(4, {.num_alibi_heads = 5}), Catch::Contains("num_alibi_heads (5)"));
}

TEST_CASE("alibi: without a direction, a causal stack looks back and others look both ways", "[unit]") {
  const AttentionPass pass = last_rows(2, 2, false);
  Alibi both = alibi(2, {}, false);
  const Tensor dense = dense_bias(*both.scores(pass), pass);
  CHECK(same_bytes(dense, dense.transpose(2, 3).contiguous()));
  Alibi back = alibi(2);
  CHECK(back.scores(last_rows(2, 2, true))->by_key().has_value());
}

}  // namespace ordo::test
