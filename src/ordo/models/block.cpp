// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

#include "ordo/models/probe.h"
#include "ordo/models/stack.h"

namespace ordo {

Block::Block(const BlockConfig& config, AttentionParts self, AttentionParts cross) : config_(config) {
  const bool parallel = config.norm.placement == NormPlacement::parallel;
  // Parameters stand in the order in which they act.
  around_attention_.norm = norm("norm1");
  attention_ = register_module(
      "attention", std::make_shared<MultiHeadAttention>(config.attention, std::move(self.kernel), self.position));
  if (config.cross) {
    if (!parallel) around_cross_.norm = norm("norm_cross");
    cross_ = register_module(
        "cross", std::make_shared<MultiHeadAttention>(*config.cross, std::move(cross.kernel), cross.position));
  }
  if (!parallel) around_feed_forward_.norm = norm("norm2");
  feed_forward_ = register_module(
      "feed_forward", std::make_shared<FeedForward>(config.feed_forward, config.dim, config.bias, config.dropout));
  finish(around_attention_, "1");
  if (cross_) finish(around_cross_, "_cross");
  finish(around_feed_forward_, "2");
}

std::shared_ptr<Norm> Block::norm(const std::string& name) {
  return register_module(name, std::make_shared<Norm>(config_.dim, config_.norm.kind, config_.bias, config_.norm.eps));
}

void Block::finish(Branch& branch, const std::string& suffix) {
  if (config_.norm.placement == NormPlacement::sandwich) branch.after = norm("after" + suffix);
  branch.drop = register_module("drop" + suffix, std::make_shared<Dropout>(config_.dropout));
  branch.path = register_module("path" + suffix, std::make_shared<DropPath>(config_.drop_path));
}

Tensor Block::Branch::out(Tensor x, const Draw& draw) const {
  if (after) x = after->forward(x);
  return path->forward(drop->forward(x, draw), draw);
}

// The branches, up to the residual sum: x is what they read, normed or not.
Tensor Block::attend(const Tensor& x, const Context& c) {
  const int64_t layer = config_.attention.layer;
  const bool want_weights = c.probe != nullptr && c.probe->wants_weights(layer);
  MultiHeadAttention::Call call{
      .at = c.at, .mask = c.mask, .draw = c.draw, .cache = c.cache, .want_weights = want_weights};
  if (const Tensor& before = c.before.hidden; before.defined()) {
    const bool reads_normed = config_.norm.placement != NormPlacement::post;
    call.memory = at::cat({reads_normed ? around_attention_.norm->forward(before) : before, x}, 1);
    call.memory_at = c.before.at;
  }
  const Attended result = attention_->forward(x, call);
  if (want_weights) c.probe->weights(layer, result.weights);
  return around_attention_.out(result.out, c.draw);
}

Tensor Block::attend_memory(const Tensor& x, const Context& c) {
  const Memory& m = c.memory;
  const int64_t layer = config_.attention.layer;
  const bool want_weights = c.probe != nullptr && c.probe->wants_source_weights(layer);
  const Attended result = cross_->forward(x, {.at = c.at,
                                              .mask = {.keys = m.keys},
                                              .draw = c.draw,
                                              .cache = m.cache,
                                              .memory = m.hidden,
                                              .memory_at = m.at,
                                              .want_weights = want_weights});
  if (want_weights) c.probe->source_weights(layer, result.weights);
  return around_cross_.out(result.out, c.draw);
}

Tensor Block::feed(const Tensor& x, const Context& c) {
  return around_feed_forward_.out(feed_forward_->forward(x, c.draw), c.draw);
}

Tensor Block::forward(Tensor x, const Context& c) {
  switch (config_.norm.placement) {
    case NormPlacement::pre:
    case NormPlacement::sandwich:
      x = x + attend(around_attention_.norm->forward(x), c);
      if (cross_) x = x + attend_memory(around_cross_.norm->forward(x), c);
      return x + feed(around_feed_forward_.norm->forward(x), c);
    case NormPlacement::post:
      x = around_attention_.norm->forward(x + attend(x, c));
      if (cross_) x = around_cross_.norm->forward(x + attend_memory(x, c));
      return around_feed_forward_.norm->forward(x + feed(x, c));
    case NormPlacement::parallel: {
      const Tensor normed = around_attention_.norm->forward(x);
      x = x + attend(normed, c);
      if (cross_) x = x + attend_memory(normed, c);
      return x + feed(normed, c);
    }
  }
  ORDO_ASSERT(false);
  return x;
}

}  // namespace ordo
