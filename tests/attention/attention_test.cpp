// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/attention/attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>

#include <cmath>

#include "ordo/nn/module.h"
#include "ordo/ops/autocast.h"
#include "support/positions.h"
#include "support/small_encodings.h"
#include "support/tolerance.h"

using ordo::AttentionConfig;
using ordo::AttentionLayer;
using ordo::consecutive;
using ordo::KVCache;
using ordo::Mask;
using ordo::MultiHeadAttention;
using ordo::PositionEncoding;
using ordo::Tensor;
using ordo::test::any_encoding;
using ordo::test::close;
using ordo::test::noise;
using ordo::test::small_facts;
using ordo::test::Tolerance;

namespace {
AttentionConfig small_config() { return {.heads = 4, .kv_heads = 2, .head_dim = 8}; }

struct Layer {
  std::shared_ptr<PositionEncoding> position;
  std::shared_ptr<MultiHeadAttention> attention;
};
Layer make_layer(const AttentionConfig& config, const std::string& encoding = "none",
                 std::optional<int64_t> window = {}) {
  Layer made;
  made.position = any_encoding(encoding, small_facts());
  const AttentionLayer layer{.config = config, .dim = 32, .layer = 0, .window = window, .bias = true};
  made.attention =
      std::make_shared<MultiHeadAttention>(layer, ordo::kernels().build(config.kernel, {}), made.position.get());
  ordo::initialise(*made.attention, 3, {.std = 0.2}, 1);
  return made;
}
MultiHeadAttention::Call causal_call(int64_t L) {
  return {.at = consecutive(0, L, at::kCPU), .mask = {.causal = true}};
}

// Encodings whose keys must be turned anew at every step: positions count from the end.
class FromTheEnd final : public PositionEncoding {
 public:
  ordo::PositionTraits traits() const override { return {.places = {.query_key = true}, .keys = ordo::KeyCache::raw}; }
  Tensor key(const Tensor& k, const ordo::Positions& at, int64_t) override {
    return k * (1.0 + at.length() - at.index.unsqueeze(1).unsqueeze(3)).to(k.scalar_type());
  }
};

// Adds nothing; notes where it was asked with autocast off.
class Watcher final : public PositionEncoding {
 public:
  ordo::PositionTraits traits() const override { return {}; }
  Tensor query(const Tensor& q, const ordo::Positions&, int64_t) override { return note("query"), q; }
  Tensor key(const Tensor& k, const ordo::Positions&, int64_t) override { return note("key"), k; }
  Tensor keep(const Tensor&, const ordo::Positions&, int64_t) override { return note("keep"), Tensor(); }
  std::shared_ptr<const ordo::ScoreBias> scores(const ordo::AttentionPass&) override { return note("scores"), nullptr; }
  std::shared_ptr<const ordo::ValueTerm> values(const ordo::AttentionPass&) override { return note("values"), nullptr; }
  std::vector<std::string> seen;

 private:
  void note(const char* place) {
    if (!ordo::autocast_state(at::kCPU).enabled) seen.emplace_back(place);
  }
};
}  // namespace

TEST_CASE("attention: one head of one layer is softmax(q kᵀ / sqrt(E)) v, projected", "[unit]") {
  const at::NoGradGuard plain;
  const auto layer = make_layer({.heads = 1, .kv_heads = 1, .head_dim = 32});
  const Tensor x = noise({2, 5, 32}, 1);
  const auto parameters = layer.attention->named_parameters();
  const auto project = [&](const Tensor& in, const std::string& name) {
    return at::linear(in, parameters[name + ".weight"], parameters[name + ".bias"]);
  };
  const Tensor scores = project(x, "q").matmul(project(x, "k").transpose(1, 2)) / std::sqrt(32.0);
  const Tensor expected = project(scores.softmax(-1).matmul(project(x, "v")), "o");
  CHECK(close(layer.attention->forward(x, {.at = consecutive(0, 5, at::kCPU)}).out, expected, Tolerance::fp32_sum));
}

TEST_CASE("attention: parameters have the names that checkpoints use", "[unit]") {
  AttentionConfig config = small_config();
  config.qk_norm = true;
  std::vector<std::string> names;
  for (const auto& p : make_layer(config).attention->named_parameters()) names.push_back(p.key());
  CHECK(names == std::vector<std::string>{"q.weight", "q.bias", "k.weight", "k.bias", "v.weight", "v.bias", "o.weight",
                                          "o.bias", "q_norm.weight", "k_norm.weight"});
}

TEST_CASE("attention: qk_norm makes scores independent of the size of queries and keys", "[unit]") {
  const at::NoGradGuard plain;
  AttentionConfig config = small_config();
  config.qk_norm = true;
  const auto layer = make_layer(config);
  const Tensor x = noise({1, 6, 32}, 1);
  const Tensor before = layer.attention->forward(x, causal_call(6)).out;
  for (const auto& p : layer.attention->named_parameters())
    if (p.key()[0] == 'q' || p.key()[0] == 'k')
      if (p.key()[1] == '.') p.value().mul_(50.0);
  CHECK(close(layer.attention->forward(x, causal_call(6)).out, before, Tolerance::fp32_sum));
}

TEST_CASE("attention: a window hides keys further back, with and without causality", "[unit]") {
  const at::NoGradGuard plain;
  const auto layer = make_layer(small_config(), "none", /*window=*/3);
  const Tensor x = noise({1, 12, 32}, 1);
  for (const bool causal : {true, false}) {
    const MultiHeadAttention::Call call{.at = consecutive(0, 12, at::kCPU), .mask = {.causal = causal}};
    const Tensor before = layer.attention->forward(x, call).out;
    Tensor changed = x.clone();
    changed.slice(1, 5, 6).add_(1.0);
    const Tensor differs = layer.attention->forward(changed, call).out.ne(before).any(2)[0];
    for (int64_t i = 0; i < 12; ++i) CHECK(differs[i].item<bool>() == (causal ? i >= 5 && i < 8 : i > 2 && i < 8));
  }
}

TEST_CASE("attention: weights are given when wanted and sum to one", "[unit]") {
  const auto layer = make_layer(small_config());
  auto call = causal_call(6);
  CHECK_FALSE(layer.attention->forward(noise({2, 6, 32}, 1), call).weights.defined());
  call.want_weights = true;
  const Tensor weights = layer.attention->forward(noise({2, 6, 32}, 1), call).weights;
  CHECK(weights.sizes() == at::IntArrayRef({2, 4, 6, 6}));
  CHECK(close(weights.sum(-1), at::ones({2, 4, 6}), Tolerance::fp32));
}

TEST_CASE("attention: dropout acts in training only, and is drawn from the call's key", "[unit]") {
  const at::NoGradGuard plain;
  AttentionConfig config = small_config();
  config.dropout = 0.5;
  const auto layer = make_layer(config);
  const Tensor x = noise({1, 8, 32}, 1);
  auto call = causal_call(8);
  const auto out = [&] { return layer.attention->forward(x, call).out; };
  layer.attention->eval();
  const Tensor still = out();
  CHECK(ordo::test::same_bytes(out(), still));
  layer.attention->train();
  call.draw = {.seed = 1, .step = 2};
  const Tensor dropped = out();
  CHECK_FALSE(close(dropped, still, Tolerance::fp32));
  CHECK(ordo::test::same_bytes(out(), dropped));
  call.draw.step = 3;
  CHECK_FALSE(close(out(), dropped, Tolerance::fp32));
}

TEST_CASE("attention: cached steps equal one pass, also when keys are turned anew at each step", "[unit]") {
  const at::NoGradGuard plain;
  AttentionConfig config = small_config();
  const auto layer = make_layer(config);
  FromTheEnd turning;
  const AttentionLayer settings{.config = config, .dim = 32, .bias = true};
  const auto raw = std::make_shared<MultiHeadAttention>(settings, ordo::kernels().build("auto", {}), &turning);
  ordo::initialise(*raw, 3, {.std = 0.2}, 1);
  const Tensor x = noise({2, 9, 32}, 1);
  for (const auto& attention : {layer.attention, raw}) {
    const auto cache = ordo::caches().build("full", {.layers = 1});
    std::vector<Tensor> outs;
    for (const auto& [from, to] : std::vector<std::pair<int64_t, int64_t>>{{0, 4}, {4, 5}, {5, 9}}) {
      const auto at = consecutive(from, to - from, at::kCPU);
      cache->advance(at, {.causal = true});
      outs.push_back(attention->forward(x.slice(1, from, to), {.at = at, .cache = cache.get()}).out);
    }
    // What counts from the end changes with the length: only the last chunk has seen the whole.
    const Tensor whole = attention->forward(x, causal_call(9)).out;
    CHECK(close(outs.back(), whole.slice(1, 5), Tolerance::fp32_sum));
    if (attention == raw)
      CHECK_FALSE(close(whole, layer.attention->forward(x, causal_call(9)).out, Tolerance::fp32_sum));
    else
      CHECK(close(at::cat(outs, 1), whole, Tolerance::fp32_sum));
  }
}

TEST_CASE("attention: cross-attention reads the memory, and from a fixed cache the same without projecting again",
          "[unit]") {
  const at::NoGradGuard plain;
  const AttentionLayer settings{.config = small_config(), .dim = 32};
  const auto cross = std::make_shared<MultiHeadAttention>(settings, ordo::kernels().build("auto", {}), nullptr);
  ordo::initialise(*cross, 3, {.std = 0.2}, 1);
  const Tensor x = noise({2, 4, 32}, 1), memory = noise({2, 7, 32}, 2);
  Mask padded;
  padded.keys = at::ones({2, 7}, at::kBool);
  padded.keys[1].slice(0, 5).fill_(false);
  MultiHeadAttention::Call call{
      .at = consecutive(0, 4, at::kCPU), .mask = padded, .memory = memory, .memory_at = consecutive(0, 7, at::kCPU)};
  const Tensor expected = cross->forward(x, call).out;
  const auto cache = ordo::caches().build("fixed", {.layers = 1});
  cache->advance(call.memory_at, padded);
  call.cache = cache.get();
  CHECK(close(cross->forward(x, call).out, expected, Tolerance::fp32));
  call.memory = noise({2, 7, 32}, 9);  // not looked at any more
  CHECK(close(cross->forward(x.slice(1, 2), call).out, expected.slice(1, 2), Tolerance::fp32));
  Tensor beyond = memory.clone();
  beyond[1].slice(0, 5).fill_(1e3);
  call.cache = nullptr, call.memory = beyond;
  CHECK(close(cross->forward(x, call).out, expected, Tolerance::fp32));
}

TEST_CASE("attention: keys turned anew are turned at every step of a fixed cache, not at the first alone", "[unit]") {
  const at::NoGradGuard plain;
  FromTheEnd turning;
  const AttentionLayer settings{.config = small_config(), .dim = 32};
  const auto cross = std::make_shared<MultiHeadAttention>(settings, ordo::kernels().build("auto", {}), &turning);
  ordo::initialise(*cross, 3, {.std = 0.2}, 1);
  const Tensor x = noise({2, 4, 32}, 1);
  MultiHeadAttention::Call call{
      .at = consecutive(0, 4, at::kCPU), .memory = noise({2, 7, 32}, 2), .memory_at = consecutive(0, 7, at::kCPU)};
  const Tensor expected = cross->forward(x, call).out;
  const auto cache = ordo::caches().build("fixed", {.layers = 1});
  cache->advance(call.memory_at, {});
  call.cache = cache.get();
  for (int step = 0; step < 2; ++step) CHECK(close(cross->forward(x, call).out, expected, Tolerance::fp32));
}

TEST_CASE("attention: one row of memory serves all rows of queries, under every kernel", "[unit]") {
  const Tensor x = noise({3, 4, 32}, 1), memory = noise({1, 7, 32}, 2);
  for (const char* const kernel : {"eager", "tiled", "sdpa", "auto"}) {
    INFO(kernel);
    const AttentionLayer settings{.config = small_config(), .dim = 32};
    const auto cross = std::make_shared<MultiHeadAttention>(settings, ordo::kernels().build(kernel, {}), nullptr);
    ordo::initialise(*cross, 3, {.std = 0.2}, 1);
    MultiHeadAttention::Call call{
        .at = consecutive(0, 4, at::kCPU), .memory = memory, .memory_at = consecutive(0, 7, at::kCPU)};
    const Tensor shared = cross->forward(x, call).out;
    shared.sum().backward();
    const Tensor gradient = cross->named_parameters()["k.weight"].grad().clone();
    cross->zero_grad();
    call.memory = memory.repeat({3, 1, 1});
    const Tensor repeated = cross->forward(x, call).out;
    repeated.sum().backward();
    CHECK(close(shared, repeated, Tolerance::fp32_sum));
    CHECK(ordo::test::close_gradient(gradient, cross->named_parameters()["k.weight"].grad(), 1e-4, 1e-3));
  }
}

TEST_CASE("attention: qk_norm takes the epsilon of the layer", "[unit]") {
  const at::NoGradGuard plain;
  AttentionConfig config = small_config();
  config.qk_norm = true;
  const auto out = [&](double eps) {
    const AttentionLayer settings{.config = config, .dim = 32, .norm_eps = eps};
    MultiHeadAttention attention(settings, ordo::kernels().build("auto", {}), nullptr);
    ordo::initialise(attention, 3, {.std = 0.2}, 1);
    return attention.forward(noise({1, 6, 32}, 1), causal_call(6)).out;
  };
  CHECK_FALSE(close(out(1e3), out(1e-5), Tolerance::fp32));
}

TEST_CASE("attention: under autocast an encoding computes in full precision at every place", "[unit]") {
  Watcher watcher;
  const AttentionLayer settings{.config = small_config(), .dim = 32};
  MultiHeadAttention attention(settings, ordo::kernels().build("auto", {}), &watcher);
  const ordo::AutocastScope half(at::kCPU, {.enabled = true, .dtype = at::kBFloat16});
  attention.forward(noise({1, 6, 32}, 1), causal_call(6));
  CHECK(watcher.seen == std::vector<std::string>{"query", "keep", "key", "scores", "values"});
  CHECK(ordo::autocast_state(at::kCPU).enabled);
}

TEST_CASE("attention: under bf16 autocast the output is near to fp32 and gradients reach every parameter", "[unit]") {
  for (const char* const encoding : {"none", "offset_table", "content_table", "key_gate"}) {
    INFO(encoding);
    const auto layer = make_layer(small_config(), encoding);
    const Tensor x = noise({2, 40, 32}, 1);
    const Tensor exact = layer.attention->forward(x, causal_call(40)).out.detach();
    Tensor out;
    {
      const ordo::AutocastScope half(at::kCPU, {.enabled = true, .dtype = at::kBFloat16});
      out = layer.attention->forward(x, causal_call(40)).out;
    }
    CHECK(close(out.to(at::kFloat), exact, {.absolute = 5e-2, .relative = 5e-2}));
    out.sum().backward();
    for (const auto& p : layer.attention->named_parameters()) CHECK(p.value().grad().isfinite().all().item<bool>());
    for (const auto& p : layer.position->parameters()) CHECK(p.grad().isfinite().all().item<bool>());
  }
}

TEST_CASE("attention: an input of another width is named with both widths", "[unit]") {
  CHECK_THROWS_WITH(make_layer(small_config()).attention->forward(noise({1, 3, 16}, 1), causal_call(3)),
                    "attention: x has width 16, the layer was built for 32");
}

TEST_CASE("attention: a call of training has the keys of the segments before its row", "[unit]") {
  const AttentionLayer layer{.config = {.heads = 2, .kv_heads = 1, .head_dim = 4}, .dim = 8};
  const auto position = ordo::positions().build(
      "t5_bias", {.dim = 8, .heads = 2, .kv_heads = 1, .head_dim = 4, .layers = 1, .max_length = 64, .causal = true});
  const auto call = ordo::training_call(layer, position.get(), /*causal=*/true, {.length = 5, .kept = 7}, {});
  CHECK(call.q.sizes() == at::IntArrayRef{1, 2, 5, 4});
  CHECK(call.k.sizes() == at::IntArrayRef{1, 1, 12, 4});
  CHECK(call.mask.offset == 7);
  CHECK_FALSE(ordo::kernels().build("eager", {})->refuses(call));
}
