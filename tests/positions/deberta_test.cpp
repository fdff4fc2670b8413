// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/deberta.h"

#include "support/catch.h"

#include <cmath>

#include "positions/content_checks.h"

namespace ordo::test {

namespace {

std::shared_ptr<Deberta> deberta_of(const Deberta::Config& config, const PositionFacts& facts = small_facts()) {
  auto made = std::make_shared<Deberta>(config, facts);
  initialise(*made, 7, {.std = 0.5}, facts.layers);
  return made;
}

constexpr auto kC2p = Deberta::Term::c2p, kP2c = Deberta::Term::p2c;

}  // namespace

TEST_CASE("deberta: buckets are exact up to half of them, then widen, and keep the sign", "[unit]") {
  // mid 4, longest 24: 4 + ceil(3 ln(d / 4) / ln(23 / 4))
  const Tensor found = Deberta::bucket(at::tensor({0, 1, -3, 4, 5, 8, -8, 12, 23}, at::kLong), 8, 24);
  CHECK(same_bytes(found, at::tensor({0, 1, -3, 4, 5, 6, -6, 6, 7}, at::kLong)));
}

TEST_CASE("deberta: one head of one channel, by hand", "[unit]") {
  const auto encoding = deberta_of({.max_relative_positions = 1},
                                   {.dim = 1, .heads = 1, .kv_heads = 1, .head_dim = 1, .layers = 1, .causal = false});
  set_parameter(*encoding, "weight", at::tensor({1.0, 2.0}));  // rows of i - j < 0 and i - j >= 0
  set_parameter(*encoding, "pos_key_weight", at::tensor({3.0}));
  set_parameter(*encoding, "pos_key_bias", at::tensor({0.5}));
  set_parameter(*encoding, "pos_query_weight", at::tensor({7.0}));
  set_parameter(*encoding, "pos_query_bias", at::tensor({0.25}));
  AttentionPass pass = last_rows(2, 2, false);
  pass.scale = 1.0;
  const Tensor q = at::tensor({1.0, 2.0}).to(at::kFloat).view({1, 1, 2, 1}),
               k = at::tensor({10.0, 20.0}).to(at::kFloat).view({1, 1, 2, 1});
  const Tensor turned = encoding->query(q, pass.q, 0);
  const Tensor found = encoding->scores(pass)->tile({0, 2, 0, 2}, turned, k) + at::matmul(turned, k.transpose(2, 3));
  const auto score = [](double q, double k, double row) {
    return (q * k + q * (3.0 * row + 0.5) + k * (7.0 * row + 0.25)) / std::sqrt(3.0);
  };
  CHECK(close(found.flatten(),
              at::tensor({score(1, 10, 2), score(1, 20, 1), score(2, 10, 2), score(2, 20, 2)}).to(at::kFloat),
              Tolerance::fp32));
}

TEST_CASE("deberta: tiles at any positions are the form over offsets", "[unit]") {
  for (const Deberta::Config& config :
       {Deberta::Config{}, Deberta::Config{.pos_att_type = {kC2p}, .max_relative_positions = 3},
        Deberta::Config{.pos_att_type = {kP2c}, .position_buckets = 4, .max_relative_positions = 10},
        Deberta::Config{.position_buckets = 4, .norm_rel_ebd = Deberta::TableNorm::layer_norm}}) {
    const auto encoding = deberta_of(config);
    check_content_tiles(*encoding, 4, true);
    check_content_tiles(*encoding, 4, false);
    check_content_gaps(*encoding, 4, false);
  }
}

TEST_CASE("deberta: gradients reach table, norm and projections alike through both forms", "[unit]") {
  check_content_gradients(*deberta_of({.norm_rel_ebd = Deberta::TableNorm::layer_norm}), 4, true);
  check_content_gradients(*deberta_of({.pos_att_type = {kP2c}, .position_buckets = 4}), 4, false);
}

TEST_CASE("deberta: share_att_key projects the table with the layer's own q and k", "[unit]") {
  const auto shared = deberta_of({.share_att_key = true}), apart = deberta_of({});
  CHECK(shared->named_parameters().size() == 1);
  const PositionFacts facts = small_facts();
  Linear q(facts.dim, 32, {}), k(facts.dim, 16, {});  // four query heads over two groups of keys
  initialise(q, 3, {.std = 0.3}, 1);
  initialise(k, 4, {.std = 0.3}, 1);
  const at::NoGradGuard plain;
  q.bias.fill_(0.5);
  shared->attach(1, q, k);
  const auto twice = [](const Tensor& rows) {
    return rows.unflatten(0, {2, 1, 8}).expand({2, 2, 8, -1}).flatten(0, 2);
  };
  const auto second = [](const Tensor& own) {
    return at::cat({at::zeros_like(own).unsqueeze(0), own.unsqueeze(0)}, 0);
  };
  set_parameter(*apart, "weight", shared->named_parameters()["weight"]);
  set_parameter(*apart, "pos_query_weight", second(q.weight));
  set_parameter(*apart, "pos_query_bias", second(q.bias));
  set_parameter(*apart, "pos_key_weight", second(twice(k.weight)));
  set_parameter(*apart, "pos_key_bias", second(twice(k.bias.unsqueeze(1)).squeeze(1)));
  AttentionPass pass = last_rows(5, 5, false);
  pass.layer = 1;
  const Content c(4, 5, 5);
  CHECK(close(shared->scores(pass)->tile({0, 5, 0, 5}, c.q, c.k), apart->scores(pass)->tile({0, 5, 0, 5}, c.q, c.k),
              Tolerance::fp32_sum));
}

TEST_CASE("deberta: gradients reach the layer's own projections when they are shared", "[unit]") {
  const auto shared = deberta_of({.share_att_key = true});
  Linear q(32, 32, {}), k(32, 16, {});
  initialise(q, 3, {.std = 0.3}, 1);
  initialise(k, 4, {.std = 0.3}, 1);
  shared->attach(0, q, k);
  const Content c(4, 5, 5);
  shared->scores(last_rows(5, 5, false))->tile({0, 5, 0, 5}, c.q, c.k).sum().backward();
  for (const Tensor& weight : {q.weight, k.weight}) CHECK(weight.grad().abs().max().item<double>() > 0.0);
}

TEST_CASE("deberta: settings that make no sense are refused in words", "[unit]") {
  CHECK_THROWS_WITH(deberta_of({.pos_att_type = {}}), Catch::Contains("each once; found 0"));
  CHECK_THROWS_WITH(deberta_of({.pos_att_type = {kC2p, kC2p}}), Catch::Contains("each once; found 2"));
  CHECK_THROWS_WITH(deberta_of({.position_buckets = 1}), Catch::Contains("position_buckets: 1"));
  CHECK_THROWS_WITH(deberta_of({.position_buckets = 30}), Catch::Contains("max_relative_positions (16)"));
  PositionFacts endless = small_facts();
  endless.max_length = 0;
  CHECK_THROWS_WITH(deberta_of({}, endless), Catch::Contains("no max_length"));
  CHECK_THROWS_WITH(deberta_of({.share_att_key = true})->scores(last_rows(2, 2)), Catch::Contains("layer 0's q and k"));
}

}  // namespace ordo::test
