// SPDX-License-Identifier: Apache-2.0
// LSTM and GRU against their equations, and as encoder-decoders with attention.
#include "support/baselines.h"
#include "support/catch.h"

#include "ordo/models/recurrent.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <cmath>

#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {
namespace {

constexpr int64_t kSourceLength = 7, kTargetLength = 5;

Tensor named(const torch::nn::Module& module, const std::string& name) {
  const auto all = module.named_parameters();
  const Tensor* const found = all.find(name);
  REQUIRE(found != nullptr);
  return found->detach();
}

// Gates of the input and of the state before: [1, gates * H] each.
struct Gates {
  Tensor x, h;
  Gates(const torch::nn::Module& layer, const Tensor& input, const Tensor& state, const std::string& end)
      : x(input.matmul(named(layer, "weight_ih" + end).t()) + named(layer, "bias_ih" + end)),
        h(state.matmul(named(layer, "weight_hh" + end).t()) + named(layer, "bias_hh" + end)) {}
  Tensor sum(int64_t n, int64_t H) const { return x.slice(1, n * H, (n + 1) * H) + h.slice(1, n * H, (n + 1) * H); }
};

// Token by token; inputs [L, D] -> [L, H].
Tensor lstm_by_hand(const torch::nn::Module& layer, const Tensor& inputs, const std::string& end) {
  const int64_t H = named(layer, "weight_hh" + end).size(1);
  Tensor h = at::zeros({1, H}), c = at::zeros({1, H});
  std::vector<Tensor> all;
  for (int64_t t = 0; t < inputs.size(0); ++t) {
    const Gates g(layer, inputs.slice(0, t, t + 1), h, end);
    c = g.sum(1, H).sigmoid() * c + g.sum(0, H).sigmoid() * g.sum(2, H).tanh();
    h = g.sum(3, H).sigmoid() * c.tanh();
    all.push_back(h[0]);
  }
  return at::stack(all);
}

Tensor gru_by_hand(const torch::nn::Module& layer, const Tensor& inputs, const std::string& end) {
  const int64_t H = named(layer, "weight_hh" + end).size(1);
  Tensor h = at::zeros({1, H});
  std::vector<Tensor> all;
  for (int64_t t = 0; t < inputs.size(0); ++t) {
    const Gates g(layer, inputs.slice(0, t, t + 1), h, end);
    const Tensor r = g.sum(0, H).sigmoid(), z = g.sum(1, H).sigmoid();
    const Tensor n = (g.x.slice(1, 2 * H) + r * g.h.slice(1, 2 * H)).tanh();
    h = (1.0 - z) * n + z * h;
    all.push_back(h[0]);
  }
  return at::stack(all);
}

int64_t numbers(const Model& model) {
  int64_t all = 0;
  for (const auto& parameter : model.parameters()) all += parameter.numel();
  return all;
}

EncoderInput source_of(const Tensor& ids, const Tensor& keys = {}) {
  return {.ids = ids, .at = consecutive(0, ids.size(1), at::kCPU), .keys = keys};
}

ModelInput pair_input(const Tensor& target, const EncoderInput& source) {
  ModelInput in = input_of(target);
  in.source = source;
  return in;
}

}  // namespace

TEST_CASE("recurrent layers compute their equations, in both directions", "[unit]") {
  const Tensor ids = some_ids(1, 6);
  for (const std::string kind : {"lstm", "gru"}) {
    for (const bool both : {false, true}) {
      CAPTURE(kind, both);
      const auto model = baseline("kind: " + kind + ", layers: 2, bidirectional: " + (both ? "true" : "false"));
      {
        const c10::NoGradGuard no_gradients;
        uint64_t key = 0;
        for (const auto& parameter : model->named_parameters())  // biases that matter
          if (parameter.value().dim() == 1) draw_normal(parameter.value(), 0.5, ++key);
      }
      Tensor x = named(*model, "embedding.weight").index_select(0, ids[0]);
      const auto by_hand = kind == "lstm" ? lstm_by_hand : gru_by_hand;
      for (const auto& layer : model->named_children()[kind]->named_children()["layers"]->children()) {
        Tensor y = by_hand(*layer, x, "");
        if (both) y = at::cat({y, by_hand(*layer, x.flip(0), "_reverse").flip(0)}, 1);
        x = y;
      }
      CHECK(close(evaluated(*model, input_of(ids))[0], x, Tolerance::fp32));
    }
  }
}

TEST_CASE("recurrent models have the parameters that one counts by hand", "[unit]") {
  constexpr int64_t V = kSmallVocabulary, D = 16;
  // LibTorch's layers: gates of input and state, and two biases each.
  const auto lstm = [](int64_t inputs, int64_t H) { return 4 * H * (inputs + H) + 8 * H; };
  const auto gru = [](int64_t inputs, int64_t H) { return 3 * H * (inputs + H) + 6 * H; };
  CHECK(numbers(*baseline("kind: lstm, layers: 3")) == 2 * V * D + 3 * lstm(D, D));
  CHECK(numbers(*baseline("kind: gru, layers: 3")) == 2 * V * D + 3 * gru(D, D));
  CHECK(numbers(*baseline("kind: lstm, layers: 1, tie_embeddings: true")) == V * D + lstm(D, D));
  CHECK(numbers(*baseline("kind: lstm, layers: 2, bidirectional: true")) == 2 * V * D + 2 * 2 * lstm(D, D / 2));
  CHECK(numbers(*baseline("kind: gru, layers: 1, bias: false")) == 2 * V * D + 3 * D * 2 * D);
  const int64_t pair = 2 * V * D + lstm(D, D) + 2 * lstm(D, D / 2);
  const int64_t out = 2 * D * D + D;
  CHECK(numbers(*baseline("kind: lstm, layers: 1, cross_attention: multiplicative")) == pair + D * D + out);
  CHECK(numbers(*baseline("kind: lstm, layers: 1, cross_attention: additive")) == pair + D * D + (D * D + D) + D + out);
  CHECK(numbers(*baseline("kind: lstm, layers: 1, cross_attention: multiplicative", {.source_vocab_size = 5})) ==
        pair + D * D + out + 5 * D);
}

TEST_CASE("the forget gate of an LSTM starts open", "[unit]") {
  const auto model = baseline("kind: lstm, layers: 1");
  const Tensor bias = named(*model, "lstm.layers.0.bias_ih");
  CHECK(bias.slice(0, 16, 32).eq(1.0).all().item().toBool());
  CHECK(bias.slice(0, 0, 16).eq(0.0).all().item().toBool());
  CHECK(bias.slice(0, 32).eq(0.0).all().item().toBool());
  CHECK(named(*model, "lstm.layers.0.bias_hh").eq(0.0).all().item().toBool());
}

TEST_CASE("FLOPs of recurrent models are those of their matrices", "[unit]") {
  constexpr double V = kSmallVocabulary, D = 16;
  CHECK(baseline("kind: lstm, layers: 2")->cost(9).flops_per_token == 2 * (2 * 4 * D * 2 * D + V * D));
  CHECK(baseline("kind: gru, layers: 1, bidirectional: true")->cost(9).flops_per_token ==
        2 * (3 * D * 1.5 * D + V * D));
  const double pair = 3 * D * 1.5 * D + 3 * D * 2 * D + V * D;
  CHECK(baseline("kind: gru, layers: 1, cross_attention: multiplicative")->cost(9).flops_per_token ==
        2 * (pair + D * D + 2 * 9 * D + 2 * D * D));
}

TEST_CASE("attention over a source: scores, weights and the attentional state by hand", "[unit]") {
  const c10::NoGradGuard no_gradients;
  constexpr int64_t D = 4;
  const Tensor h = standard_normal({1, 2, D}, 1), m = standard_normal({1, 3, D}, 2);
  const Tensor keys = at::tensor({1, 1, 0}, at::kLong).to(at::kBool).unsqueeze(0);
  for (const SourceScore kind : {SourceScore::additive, SourceScore::multiplicative}) {
    SourceAttention attention(kind, D, /*bias=*/true);
    uint64_t key = 10;
    for (const auto& parameter : attention.parameters()) draw_normal(parameter, 0.7, ++key);
    const Tensor given = attention.forward(h, attention.source(m, keys));
    for (int64_t t = 0; t < 2; ++t) {
      std::vector<double> scores;
      for (int64_t s = 0; s < 2; ++s) {
        const Tensor scored = named(attention, "key.weight").matmul(m[0][s]);
        const Tensor score =
            kind == SourceScore::multiplicative
                ? h[0][t].dot(scored)
                : named(attention, "v.weight")[0].dot(
                      (named(attention, "query.weight").matmul(h[0][t]) + named(attention, "query.bias") + scored)
                          .tanh());
        scores.push_back(std::exp(score.item().toDouble()));
      }
      const Tensor context = (m[0][0] * scores[0] + m[0][1] * scores[1]) / (scores[0] + scores[1]);
      const Tensor expected =
          (named(attention, "out.weight").matmul(at::cat({context, h[0][t]})) + named(attention, "out.bias")).tanh();
      CHECK(close(given[0][t], expected, Tolerance::fp32));
    }
  }
}

TEST_CASE("recurrent encoder-decoders write with a cache what they write at once", "[unit]") {
  for (const auto& kind : kPairBaselines) {
    CAPTURE(kind);
    const auto model = baseline(kind);
    REQUIRE(model->reads_source());
    const Tensor target = some_ids(3, kTargetLength), source = some_ids(3, kSourceLength);
    const Tensor whole = evaluated(*model, pair_input(target, source_of(source)));
    const auto cache = model->make_cache();
    std::vector<Tensor> pieces{evaluated(*model, pair_input(target.slice(1, 0, 2), source_of(source)), cache.get())};
    for (int64_t i = 2; i < kTargetLength; ++i)
      pieces.push_back(
          evaluated(*model, {.ids = target.slice(1, i, i + 1), .at = consecutive(i, 1, at::kCPU)}, cache.get()));
    CHECK(close(at::cat(pieces, 1), whole, Tolerance::fp32));
    cache->truncate(3);
    const Tensor rows = at::tensor({2, 0}, at::kLong);
    cache->keep_rows(rows);
    const Tensor kept = target.index_select(0, rows).slice(1, 3);
    CHECK(close(evaluated(*model, {.ids = kept, .at = consecutive(3, 2, at::kCPU)}, cache.get()),
                whole.index_select(0, rows).slice(1, 3), Tolerance::fp32));
  }
}

TEST_CASE("recurrent encoder-decoders do not see the padding of a source", "[unit]") {
  for (const auto& kind : kPairBaselines) {
    CAPTURE(kind);
    const auto model = baseline(kind);
    const Tensor target = some_ids(2, kTargetLength), source = some_ids(2, kSourceLength);
    const Tensor plain = evaluated(*model, pair_input(target, source_of(source)));
    const Tensor filled = at::cat({source, some_ids(2, 3)}, 1);
    Tensor keys = at::ones_like(filled, at::kBool);
    keys.slice(1, kSourceLength).fill_(false);
    CHECK(close(evaluated(*model, pair_input(target, source_of(filled, keys))), plain, Tolerance::fp32));
    CHECK_FALSE(close(evaluated(*model, pair_input(target, source_of(filled))), plain, Tolerance::fp32));
    keys.slice(1, 4).fill_(false);
    keys[0].fill_(true);
    CHECK(
        close(evaluated(*model, pair_input(target, source_of(filled, keys)))[1],
              evaluated(*model, pair_input(target.slice(0, 1, 2), source_of(source.slice(0, 1, 2).slice(1, 0, 4))))[0],
              Tolerance::fp32));
  }
}

TEST_CASE("recurrent encoder-decoders: a later word of the target changes nothing before it, any of the source does",
          "[unit]") {
  for (const auto& kind : kPairBaselines) {
    CAPTURE(kind);
    const auto model = baseline(kind);
    const Tensor target = some_ids(1, kTargetLength), source = some_ids(1, kSourceLength);
    const Tensor before = evaluated(*model, pair_input(target, source_of(source)));
    const auto other = [](const Tensor& ids, int64_t place) {
      Tensor changed = ids.clone();
      changed.select(1, place).add_(1).remainder_(kSmallVocabulary);
      return changed;
    };
    const Tensor later = evaluated(*model, pair_input(other(target, 3), source_of(source)));
    CHECK(close(later.slice(1, 0, 3), before.slice(1, 0, 3), Tolerance::fp32));
    CHECK_FALSE(close(later.slice(1, 3), before.slice(1, 3), Tolerance::fp32));
    for (int64_t place = 0; place < kSourceLength; ++place)
      CHECK_FALSE(close(evaluated(*model, pair_input(target, source_of(other(source, place)))).select(1, 0),
                        before.select(1, 0), Tolerance::fp32));
  }
}

TEST_CASE("recurrent encoder-decoders read a vocabulary of the source's own", "[unit]") {
  const auto model = baseline(kPairBaselines.front(), {.vocab_size = 6, .source_vocab_size = kSmallVocabulary});
  const Tensor target = some_ids(1, kTargetLength).remainder(6), source = some_ids(1, kSourceLength);
  CHECK(evaluated(*model, pair_input(target, source_of(source))).sizes() == at::IntArrayRef({1, kTargetLength, 16}));
  CHECK(model->head().weight().size(0) == 6);
  CHECK(contains(thrown<DataError>([&] { evaluated(*model, pair_input(source, source_of(source))); }),
                 "vocabulary of 6"));
}

TEST_CASE("recurrent encoder-decoders: what has no meaning is refused in words", "[unit]") {
  const auto refusal = [](const std::string& more, const ModelFacts& facts = {}) {
    return thrown<ConfigError>([&] { baseline("kind: lstm, layers: 1, cross_attention: additive, " + more, facts); });
  };
  CHECK(contains(refusal("bidirectional: true"), "contradict"));
  CHECK(contains(refusal("dim: 15"), "must be even"));
  CHECK(contains(refusal("pool: mean", {.outputs = 2, .pools = true}), "contradict"));
  const auto model = baseline(kPairBaselines.front());
  CHECK(contains(thrown<Error>([&] { model->forward(input_of(some_ids(1, 3))); }), "none was given"));
  CHECK(contains(thrown<Error>([&] { model->forward(pair_input(some_ids(1, 3), source_of(some_ids(2, 3)))); }),
                 "2 rows of a source"));
  CHECK(contains(thrown<ConfigError>([&] { model->pooled(input_of(some_ids(1, 3))); }), "cross_attention"));
}

}  // namespace ordo::test
