// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>

#include "ordo/models/probe.h"
#include "ordo/models/stack.h"

namespace ordo {

Block::Block(const BlockConfig& config, std::shared_ptr<AttentionKernel> kernel, PositionEncoding* position)
    : config_(config) {
  const auto norm = [&](const char* name) {
    return register_module(name, std::make_shared<Norm>(config.dim, config.norm.kind, config.bias, config.norm.eps));
  };
  const NormPlacement placement = config.norm.placement;
  norm1_ = norm("norm1");
  attention_ =
      register_module("attention", std::make_shared<MultiHeadAttention>(config.attention, std::move(kernel), position));
  if (placement != NormPlacement::parallel) norm2_ = norm("norm2");
  feed_forward_ = register_module(
      "feed_forward", std::make_shared<FeedForward>(config.feed_forward, config.dim, config.bias, config.dropout));
  if (placement == NormPlacement::sandwich) {
    after1_ = norm("after1");
    after2_ = norm("after2");
  }
  drop1_ = register_module("drop1", std::make_shared<Dropout>(config.dropout));
  drop2_ = register_module("drop2", std::make_shared<Dropout>(config.dropout));
  path1_ = register_module("path1", std::make_shared<DropPath>(config.drop_path));
  path2_ = register_module("path2", std::make_shared<DropPath>(config.drop_path));
}

// The two branches, up to the residual sum: x is what they read, normed or not.
Tensor Block::attend(const Tensor& x, const Context& c) {
  const int64_t layer = config_.attention.layer;
  const bool want_weights = c.probe != nullptr && c.probe->wants_weights(layer);
  const Attended result = attention_->forward(
      x, {.at = c.at, .mask = c.mask, .draw = c.draw, .cache = c.cache, .want_weights = want_weights});
  if (want_weights) c.probe->weights(layer, result.weights);
  const Tensor out = after1_ ? after1_->forward(result.out) : result.out;
  return path1_->forward(drop1_->forward(out, c.draw), c.draw);
}

Tensor Block::feed(const Tensor& x, const Context& c) {
  Tensor out = feed_forward_->forward(x, c.draw);
  if (after2_) out = after2_->forward(out);
  return path2_->forward(drop2_->forward(out, c.draw), c.draw);
}

Tensor Block::forward(Tensor x, const Context& c) {
  switch (config_.norm.placement) {
    case NormPlacement::pre:
    case NormPlacement::sandwich:
      x = x + attend(norm1_->forward(x), c);
      return x + feed(norm2_->forward(x), c);
    case NormPlacement::post:
      x = norm1_->forward(x + attend(x, c));
      return norm2_->forward(x + feed(x, c));
    case NormPlacement::parallel: {
      const Tensor normed = norm1_->forward(x);
      return x + attend(normed, c) + feed(normed, c);
    }
  }
  ORDO_ASSERT(false);
  return x;
}

}  // namespace ordo
