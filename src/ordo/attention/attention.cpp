// SPDX-License-Identifier: Apache-2.0
#include "ordo/attention/attention.h"

#include <ATen/ops/zeros.h>
#include <fmt/core.h>

#include <cmath>

#include "ordo/ops/autocast.h"

namespace ordo {

void fields(Fields& f, AttentionConfig& c) {
  f("heads", c.heads, "query heads; must divide dim unless head_dim is given", required(within(1, 1 << 16)));
  f("kv_heads", c.kv_heads, "key and value heads, shared by groups of query heads (GQA); 0 = as many as heads",
    at_least(0));
  f("head_dim", c.head_dim, "width of a head; 0 = dim / heads", within(0, 1 << 16));
  f("window", c.window, "how many keys a query sees, itself included; a pattern over the layers, 0 = everything",
    at_least(0));
  f("scale", c.scale, "what scores are multiplied by; 0 = 1 / sqrt(head_dim)", at_least(0.0));
  f("qk_norm", c.qk_norm, "RMSNorm of each head's queries and keys before they are turned");
  f("softcap", c.softcap, "scores become cap * tanh(score / cap), before a bias is added", above(0.0));
  f("dropout", c.dropout, "of attention weights", below_one());
  f("kernel", c.kernel, "how attention is computed; auto takes the fastest that is exact");
}

namespace {
// [B, L, heads * E] -> [B, L, heads, E]
Tensor split_heads(const Tensor& x, int64_t heads, int64_t head_dim) {
  return x.view({x.size(0), x.size(1), heads, head_dim});
}
}  // namespace

MultiHeadAttention::MultiHeadAttention(const AttentionLayer& layer, std::shared_ptr<AttentionKernel> kernel,
                                       PositionEncoding* position)
    : layer_(layer), position_(position != nullptr && position->acts_in(layer.layer) ? position : nullptr) {
  const AttentionConfig& c = layer_.config;
  if (layer_.config.scale == 0.0) layer_.config.scale = 1.0 / std::sqrt(static_cast<double>(c.head_dim));
  kernel_ = register_module("kernel", std::move(kernel));
  q_ = register_module("q",
                       std::make_shared<Linear>(layer.dim, c.heads * c.head_dim, Linear::Options{.bias = layer.bias}));
  k_ = register_module(
      "k", std::make_shared<Linear>(layer.dim, c.kv_heads * c.head_dim, Linear::Options{.bias = layer.bias}));
  v_ = register_module(
      "v", std::make_shared<Linear>(layer.dim, c.kv_heads * c.head_dim, Linear::Options{.bias = layer.bias}));
  o_ = register_module("o", std::make_shared<Linear>(c.heads * c.head_dim, layer.dim,
                                                     Linear::Options{.bias = layer.bias, .residual = true}));
  if (c.qk_norm) {
    const auto norm = [&] { return std::make_shared<Norm>(c.head_dim, NormKind::rms, /*bias=*/false, layer.norm_eps); };
    q_norm_ = register_module("q_norm", norm());
    k_norm_ = register_module("k_norm", norm());
  }
  dropout_ = register_module("dropout", std::make_shared<Dropout>(c.dropout));
  if (position_ != nullptr) position_->attach(layer.layer, *q_, *k_);
}

Tensor MultiHeadAttention::queries(const Tensor& x, const Positions& at) const {
  Tensor q = split_heads(q_->forward(x), layer_.config.heads, layer_.config.head_dim);
  if (q_norm_) q = q_norm_->forward(q).to(q.scalar_type());
  q = q.transpose(1, 2);
  if (position_ == nullptr) return q;
  const AutocastScope off(q.device().type(), no_autocast());
  return position_->query(q, at, layer_.layer);
}

bool MultiHeadAttention::turns_late() const {
  return position_ != nullptr && position_->traits().keys == KeyCache::raw;
}

// Keys and values of `source`, appended to the cache when there is one; keys that are turned late come out raw.
KVCache::Held MultiHeadAttention::projected(const Tensor& source, const Positions& at, const Call& call) const {
  Tensor k = split_heads(k_->forward(source), layer_.config.kv_heads, layer_.config.head_dim);
  if (k_norm_) k = k_norm_->forward(k).to(k.scalar_type());
  k = k.transpose(1, 2);
  Tensor v = split_heads(v_->forward(source), layer_.config.kv_heads, layer_.config.head_dim).transpose(1, 2);
  Tensor kept;
  if (position_ != nullptr) {
    const AutocastScope off(k.device().type(), no_autocast());
    kept = position_->keep(source, at, layer_.layer);
    if (!turns_late()) k = position_->key(k, at, layer_.layer);
    v = position_->value(v, at, layer_.layer);
  }
  return call.cache != nullptr ? call.cache->append(layer_.layer, k, v, kept)
                               : KVCache::Held{k, v, kept, at, call.mask};
}

// Keys and values of `source`, or those that the cache holds already; keys come out turned.
KVCache::Held MultiHeadAttention::memory(const Tensor& source, const Positions& at, const Call& call) const {
  const auto written = call.cache != nullptr ? call.cache->held(layer_.layer) : std::nullopt;
  KVCache::Held held = written ? *written : projected(source, at, call);
  if (turns_late()) {
    const AutocastScope off(held.k.device().type(), no_autocast());
    held.k = position_->key(held.k, held.at, layer_.layer);
  }
  return held;
}

Attended MultiHeadAttention::forward(const Tensor& x, const Call& call) {
  const auto [B, L, D] = sizes<3>(x, "x [B, L, D]");
  require(D == layer_.dim, "attention: x has width {}, the layer was built for {}", D, layer_.dim);
  const bool cross = call.memory.defined();
  const Tensor q = queries(x, call.at);
  KVCache::Held held = memory(cross ? call.memory : x, cross ? call.memory_at : call.at, call);
  if (held.k.size(0) == 1 && B > 1) {  // one row of memory serves all queries
    held.k = held.k.expand({B, -1, -1, -1});
    held.v = held.v.expand({B, -1, -1, -1});
  }
  const AttentionConfig& c = layer_.config;
  AttentionCall work{.q = q,
                     .k = held.k,
                     .v = held.v,
                     .mask = held.mask.with_window(layer_.window),
                     .scale = c.scale,
                     .dropout = dropout_->active() ? c.dropout : 0.0,
                     .draw = dropout_->key(call.draw),
                     .softcap = c.softcap,
                     .want_weights = call.want_weights};
  if (position_ != nullptr) {
    const AutocastScope off(x.device().type(), no_autocast());
    const AttentionPass pass{layer_.layer, call.at, held.at, c.scale, x, held.kept, work.mask};
    work.bias = position_->scores(pass);
    work.value_term = position_->values(pass);
  }
  if (const auto refused = refusal(work)) throw KernelRefusal(*refused);
  Attended result = kernel_->run(work);
  result.out = o_->forward(result.out.transpose(1, 2).reshape({B, L, c.heads * c.head_dim}));
  return result;
}

std::optional<std::string> MultiHeadAttention::refusal(const AttentionCall& call) const {
  const auto refused = kernel_->refuses(call);
  if (!refused) return std::nullopt;
  return fmt::format("attention kernel {} cannot serve layer {}: {}; use model.attention.kernel=auto",
                     layer_.config.kernel.kind, layer_.layer, *refused);
}

AttentionCall training_call(const AttentionLayer& layer, PositionEncoding* position, bool causal, const RowTokens& row,
                            const at::TensorOptions& options) {
  const AttentionConfig& c = layer.config;
  const int64_t L = row.length, keys = row.kept + row.length;
  const auto zeros = [&](at::IntArrayRef sizes) { return at::zeros(sizes, options).requires_grad_(true); };
  AttentionCall call{.q = zeros({1, c.heads, L, c.head_dim}),
                     .k = zeros({1, c.kv_heads, keys, c.head_dim}),
                     .v = zeros({1, c.kv_heads, keys, c.head_dim}),
                     .mask = {.causal = causal, .window = layer.window, .offset = row.kept},
                     .scale = c.scale,
                     .dropout = c.dropout,
                     .softcap = c.softcap};
  if (position == nullptr || !position->acts_in(layer.layer)) return call;
  AttentionPass pass{.layer = layer.layer,
                     .q = consecutive(row.kept, L, call.q.device()),
                     .k = consecutive(0, keys, call.q.device()),
                     .scale = c.scale,
                     .x = zeros({1, L, layer.dim}),
                     .mask = call.mask};
  pass.kept = position->keep(zeros({1, keys, layer.dim}), pass.k, layer.layer);
  call.bias = position->scores(pass);
  call.value_term = position->values(pass);
  return call;
}

}  // namespace ordo
