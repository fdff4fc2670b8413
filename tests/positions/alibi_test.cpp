// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "ordo/positions/alibi.h"
#include "positions/bias_checks.h"
#include "support/goldens.h"

namespace ordo::test {

namespace {

Alibi alibi(int64_t heads, const Alibi::Config& config = {}, bool causal = true) {
  Alibi made(config,
             {.heads = heads, .kv_heads = heads, .head_dim = 4, .layers = 1, .max_length = 8, .causal = causal});
  initialise(made, 7, {}, 1);
  return made;
}
constexpr Alibi::Direction kTwoSided[] = {Alibi::Direction::symmetric, Alibi::Direction::asymmetric,
                                          Alibi::Direction::split};

void check_slopes(const GoldenCase& golden) {
  for (const bool learned : {false, true}) {
    Alibi encoding = alibi(golden.param<int64_t>("heads", 0),
                           {.alibi_bias_max = golden.param("alibi_bias_max", 8.0), .learned_slopes = learned});
    const AttentionPass pass = last_rows(1, 2);  // the key at distance 1
    const Tensor got = -dense_bias(*encoding.scores(pass), pass).detach().select(3, 0).flatten();
    for (const std::string name : {"slopes", "slopes_mpt"})
      CHECK(close(got, golden.tensor(name), golden.tolerance(name)));
  }
}

void check_two_sided(const GoldenCase& golden) {
  const auto rows = golden.param<int64_t>("q_len", 0), columns = golden.param<int64_t>("k_len", 0);
  const bool asymmetric = golden.params().contains("past_offset");
  Alibi encoding = alibi(golden.param<int64_t>("heads", 0),
                         {.direction = asymmetric ? Alibi::Direction::asymmetric : Alibi::Direction::symmetric}, false);
  const AttentionPass pass = last_rows(rows, columns, false);
  const auto bias = encoding.scores(pass);
  const Tensor want = golden.tensor("bias").unsqueeze(0);
  CHECK(close(dense_bias(*bias, pass), want, golden.tolerance("bias")));
  CHECK(close(spread_bias(*bias, pass), want, golden.tolerance("bias")));
}

// Another implementation gives slope x key position: equal up to a constant of the row. (Its bf16 tensor shows what
// rounding does, and is nothing to equal.)
void check_padded(const GoldenCase& golden) {
  Alibi encoding = alibi(golden.param<int64_t>("heads", 0));
  const Tensor real = golden.tensor("mask").to(at::kBool), want = golden.tensor("bias");
  const Positions at = from_padding(real);
  const AttentionPass pass = call_at(at, at);
  const auto bias = encoding.scores(pass);
  const auto from_first_key = [&](const Tensor& t) {  // over real keys alone
    const Tensor first = real.to(at::kLong).argmax(1).view({-1, 1, 1, 1}).expand({-1, t.size(1), t.size(2), 1});
    return (t - t.gather(3, first)).masked_fill(real.logical_not().unsqueeze(1).unsqueeze(1), 0.0);
  };
  const Tensor expected = from_first_key(want);
  CHECK(close(from_first_key(bias->by_key().value()), expected, golden.tolerance("bias")));
  CHECK(close(from_first_key(dense_bias(*bias, pass)), expected.expand({-1, -1, real.size(1), -1}),
              golden.tolerance("bias")));
}

}  // namespace

TEST_CASE("alibi: slopes, two-sided biases and those of padded rows equal other implementations'",
          "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "alibi")) {
    INFO(golden.id());
    if (golden.has("slopes"))
      check_slopes(golden);
    else if (golden.params().contains("q_len"))
      check_two_sided(golden);
    else if (golden.has("mask"))
      check_padded(golden);
    else
      FAIL("a case of another form");
  }
}

TEST_CASE("alibi: split is symmetric on the side that a head sees, for either half of the heads alike", "[unit]") {
  Alibi split = alibi(8, {.direction = Alibi::Direction::split}, false), symmetric = alibi(4, {}, false);
  const AttentionPass pass = last_rows(5, 9, false);
  const Tensor found = dense_bias(*split.scores(pass), pass), whole = dense_bias(*symmetric.scores(pass), pass);
  const Tensor past = at::ones({5, 9}).tril(4), future = at::ones({5, 9}).triu(4);
  CHECK(close(found.slice(1, 0, 4) * past, whole * past, Tolerance::exact));
  CHECK(close(found.slice(1, 4) * future, whole * future, Tolerance::exact));
  CHECK((found.slice(1, 0, 4) * (1 - past) <= -60000.0 * (1 - past)).all().item<bool>());
  CHECK((found.slice(1, 4) * (1 - future) <= -60000.0 * (1 - future)).all().item<bool>());
}

TEST_CASE("alibi: each tile is a piece of the form by offset, wherever the text starts", "[unit]") {
  for (const int64_t start : {0, 5000}) {
    Alibi causal = alibi(6);
    CHECK(tiles_agree(causal, true, start));
    for (const auto direction : kTwoSided) {
      Alibi encoding = alibi(6, {.direction = direction}, false);
      CHECK(tiles_agree(encoding, false, start));
    }
  }
}

TEST_CASE("alibi: positions with gaps get the bias of their distance", "[unit]") {
  for (const auto direction : kTwoSided) {
    Alibi encoding = alibi(6, {.direction = direction}, false);
    CHECK(gaps_agree(encoding, false));
  }
}

TEST_CASE("alibi: slopes learn when asked, by every form alike", "[unit]") {
  Alibi causal = alibi(4, {.num_alibi_heads = 3, .learned_slopes = true});
  check_gradients_agree(causal, true);
  for (const auto direction : kTwoSided) {
    Alibi encoding = alibi(4, {.direction = direction, .learned_slopes = true}, false);
    check_gradients_agree(encoding, false);
  }
  causal.zero_grad();
  const Tensor weight = seen_of(noise({1, 1, 6, 9}, 3)), rows = weight.sum(3, /*keepdim=*/true);
  const AttentionPass pass = last_rows(6, 9);
  const auto gradient = [&](const Tensor& bias, const Tensor& of) {
    causal.zero_grad();
    (bias * of).sum().backward();
    return causal.parameters()[0].grad().clone();
  };
  // Weights of each row that sum to nothing: then a constant of the row makes no difference.
  const Tensor even = weight - at::ones({1, 1, 6, 9}).tril(3) * rows / at::ones({1, 1, 6, 9}).tril(3).sum(3, true);
  const auto bias = causal.scores(pass);
  CHECK(close_gradient(gradient(bias->by_key().value(), even), gradient(dense_bias(*causal.scores(pass), pass), even),
                       1e-4));
}

TEST_CASE("alibi: fixed slopes are no parameter, learned ones of biased heads alone", "[unit]") {
  CHECK(alibi(4).parameters().empty());
  CHECK(alibi(4, {.num_alibi_heads = 3, .learned_slopes = true}).parameters()[0].numel() == 3);
}

TEST_CASE("alibi: the form by key differs from the whole bias by one constant a row", "[unit]") {
  for (const int64_t heads : {4, 6}) {
    Alibi encoding = alibi(heads);
    const AttentionPass pass = last_rows(3, 7);
    const auto bias = encoding.scores(pass);
    const Tensor difference = dense_bias(*bias, pass) - bias->by_key().value();
    CHECK(close(difference - difference.slice(3, 0, 1), at::zeros_like(difference), Tolerance::fp32));
  }
}

TEST_CASE("alibi: numbers by key are small near the last key, far into a long text", "[unit]") {
  Alibi encoding = alibi(2);
  const AttentionPass pass = last_rows(4, 4, true, 1000000);
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
