// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/fox.h"

#include "support/catch.h"

#include <ATen/ops/full_like.h>
#include <ATen/ops/stack.h>

#include <cmath>

#include "positions/bias_checks.h"

namespace ordo::test {

namespace {

constexpr int64_t kFoxHeads = 2;

std::shared_ptr<Fox> fox_of(bool causal = true, const Fox::Config& config = {}) {
  const PositionFacts facts{
      .dim = 6, .heads = kFoxHeads, .kv_heads = 1, .head_dim = 4, .layers = 2, .max_length = 16, .causal = causal};
  auto made = std::make_shared<Fox>(config, facts);
  initialise(*made, 7, {.std = 0.5}, facts.layers);
  return made;
}

// ln f of one row for both heads: the second's are twice the first's.
Tensor fox_logs(const std::vector<double>& first) {
  const Tensor one = at::tensor(first).to(at::kFloat);
  return at::stack({one, one * 2.0}, 1).unsqueeze(0);
}

AttentionPass fox_pass(const Tensor& logs, int64_t rows) {
  AttentionPass pass = last_rows(rows, logs.size(1));
  pass.kept = logs;
  pass.mask.offset = logs.size(1) - rows;
  return pass;
}

}  // namespace

TEST_CASE("fox: the bias is the sum of ln f over the keys between, the query's own included", "[unit]") {
  const AttentionPass pass = fox_pass(fox_logs({-1.0, -2.0, -4.0, -8.0}), 2);
  const Tensor bias = seen_of(dense_bias(*fox_of()->scores(pass), pass))[0];
  const Tensor first = at::tensor({-6.0, -4.0, 0.0, 0.0, -14.0, -12.0, -8.0, 0.0}).to(at::kFloat).view({2, 4});
  CHECK(close(bias[0], first, Tolerance::fp32));
  CHECK(close(bias[1], first * 2.0, Tolerance::fp32));
}

TEST_CASE("fox: the form by key differs from the whole bias by one constant a row", "[unit]") {
  const AttentionPass pass = fox_pass(-noise({2, 9, kFoxHeads}, 3).abs(), 5);
  const auto bias = fox_of()->scores(pass);
  const Tensor difference = dense_bias(*bias, pass) - bias->by_key().value();
  CHECK(close(difference, difference.slice(3, 0, 1).expand_as(difference), Tolerance::fp32_sum));
}

TEST_CASE("fox: numbers by key do not depend on later keys, to the last bit", "[unit]") {
  const Tensor logs = -noise({1, 9, kFoxHeads}, 3).abs();
  const auto by_key = [&](int64_t columns) {
    const AttentionPass pass = fox_pass(logs.slice(1, 0, columns), columns);
    return fox_of()->scores(pass)->by_key().value();
  };
  CHECK(same_bytes(by_key(9).slice(3, 0, 5).contiguous(), by_key(5).contiguous()));
}

TEST_CASE("fox: padding forgets nothing", "[unit]") {
  AttentionPass padded = fox_pass(fox_logs({-50.0, -60.0, -1.0, -2.0, -70.0, -4.0}), 6);
  padded.mask.keys = at::tensor({0, 0, 1, 1, 0, 1}, at::kLong).to(at::kBool).unsqueeze(0);
  const AttentionPass alone = fox_pass(fox_logs({-1.0, -2.0, -4.0}), 3);
  const Tensor real = at::tensor({2, 3, 5}, at::kLong);
  const Tensor found = dense_bias(*fox_of()->scores(padded), padded).index_select(2, real).index_select(3, real);
  CHECK(close(found, dense_bias(*fox_of()->scores(alone), alone), Tolerance::fp32));
}

TEST_CASE("fox: neighbours keep their digits 16000 tokens into a text that forgets fast", "[unit]") {
  const int64_t L = 16000;
  const Tensor logs = (at::ones({1, L, kFoxHeads}) * -5.0 + noise({1, L, kFoxHeads}, 3)).contiguous();
  AttentionPass pass = fox_pass(logs, 4);
  const auto bias = fox_of()->scores(pass);
  const Tensor found = bias->tile({0, 4, L - 8, L}, {}, {})[0].select(1, 3).slice(1, 0, 7);
  const Tensor last = logs[0].slice(0, L - 7).t().to(at::kDouble);  // ln f of the last seven
  const Tensor expected = last.flip(1).cumsum(1).flip(1).to(at::kFloat);
  CHECK(close(found, expected, Tolerance::fp32));
  CHECK_FALSE(bias->by_key().has_value());  // one fp32 vector for all rows would not
}

TEST_CASE("fox: two-sided stacks fade each side by gates of its own", "[unit]") {
  const Tensor back = fox_logs({-1.0, -2.0, -4.0}), ahead = fox_logs({-10.0, -20.0, -40.0});
  AttentionPass pass = last_rows(3, 3, false);
  pass.kept = at::cat({back, ahead}, 2);
  const auto bias = fox_of(false)->scores(pass);
  CHECK_FALSE(bias->by_key().has_value());
  const Tensor expected =
      at::tensor({0.0, -20.0, -60.0, -2.0, 0.0, -40.0, -6.0, -4.0, 0.0}).to(at::kFloat).view({3, 3});
  CHECK(close(dense_bias(*bias, pass)[0][0], expected, Tolerance::fp32));
}

TEST_CASE("fox: keys of a prefix behind the query fade by the same gates", "[unit]") {
  AttentionPass pass = fox_pass(fox_logs({-1.0, -2.0, -4.0}), 3);
  pass.mask.prefix = 3;
  const auto bias = fox_of()->scores(pass);
  const Tensor dense = dense_bias(*bias, pass);
  CHECK(close(dense, dense.transpose(2, 3), Tolerance::fp32));
  CHECK(dense.max().item<double>() == 0.0);
  CHECK_FALSE(bias->by_key().has_value());
}

TEST_CASE("fox: gates start next to open, and keep ln f in at least fp32", "[unit]") {
  const auto encoding = fox_of();
  const Positions at = consecutive(0, 3, at::kCPU);
  const Tensor kept = encoding->keep(at::zeros({1, 3, 6}, at::kBFloat16), at, 1);
  CHECK(kept.scalar_type() == at::kFloat);
  CHECK(kept.size(2) == encoding->keeps());
  CHECK(close(kept, at::full_like(kept, std::log(1.0 / (1.0 + std::exp(-5.0)))), Tolerance::fp32));
  const Tensor shut = fox_of(true, {.bias_init = -200.0})->keep(at::zeros({1, 1, 6}), at.slice(0, 1), 0);
  CHECK(shut.isfinite().all().item<bool>());
}

TEST_CASE("fox: gradients reach weight and bias alike by key and by tile", "[unit]") {
  const auto encoding = fox_of();
  const Tensor x = noise({2, 6, 6}, 4), weight = seen_of(noise({2, kFoxHeads, 6, 6}, 5));
  const Positions at = consecutive(0, 6, at::kCPU);
  // Of each row the constant is taken out: softmax does not see it.
  const Tensor centred = seen_of(weight - (weight.sum(3, true) / at::arange(1, 7).view({1, 1, 6, 1})));
  const auto gradients = [&](const auto& form) {
    encoding->zero_grad();
    AttentionPass pass = fox_pass(encoding->keep(x, at, 0), 6);
    (form(*encoding->scores(pass), pass) * centred).sum().backward();
    return std::vector<Tensor>{encoding->named_parameters()["weight"].grad().clone(),
                               encoding->named_parameters()["bias"].grad().clone()};
  };
  const auto tiles = gradients([](const ScoreBias& b, const AttentionPass& p) { return dense_bias(b, p); });
  const auto keys = gradients([](const ScoreBias& b, const AttentionPass&) { return b.by_key().value(); });
  for (size_t i = 0; i < 2; ++i) {
    CHECK(tiles[i][0].abs().max().item<double>() > 0.0);
    CHECK(close_gradient(keys[i], tiles[i], 1e-4));
  }
}

TEST_CASE("fox: across two sequences it is refused in words", "[unit]") {
  CHECK_THROWS_WITH(Fox({}, {.dim = 4, .heads = 1, .kv_heads = 1, .head_dim = 4, .layers = 1, .cross = true}),
                    Catch::Contains("fox: a query of another sequence"));
}

}  // namespace ordo::test
