// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/stack.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ordo/models/probe.h"
#include "ordo/nn/unallocated.h"
#include "ordo/ops/autocast.h"
#include "ordo/ops/recompute.h"

namespace ordo {

namespace {

KernelFacts kernel_facts(const StackConfig& config) {
  const AttentionConfig attention = resolve_blocks(config).at(0).attention.config;
  return {config.dim, attention.heads, attention.kv_heads, attention.head_dim};
}

// The encoding that a config asks for. Throws at the line of the one that the kernel can never serve.
std::shared_ptr<PositionEncoding> servable_position(const StackConfig& config,
                                                    const std::vector<Choice<PositionEncoding>>& list,
                                                    const PositionFacts& facts) {
  const Unallocated off(false);  // encodings are asked what they do: they need values
  auto position = make_position(list, facts);
  if (list.empty()) return position;
  const KernelTraits kernel = kernels().build(config.attention.kernel, kernel_facts(config))->traits();
  const auto parts = position->parts();
  for (size_t i = 0; i < list.size(); ++i) {
    const auto& choice = list[i];
    if (const auto why = never_works(kernel, config.attention.kernel.kind, parts.at(i)->traits(), choice.kind))
      throw KernelRefusal(placed(choice.source, *why));
  }
  return position;
}

// It acts in layers alone: on the input of a stack and on its positions that of self-attention acts already.
std::shared_ptr<PositionEncoding> servable_cross_position(const StackConfig& config, const CrossAttention& cross,
                                                          int64_t trained_length) {
  PositionFacts facts = position_facts(config, /*causal=*/false, trained_length);
  facts.cross = true;
  auto position = servable_position(config, cross.position, facts);
  const auto parts = position->parts();
  for (size_t i = 0; i < cross.position.size(); ++i) {
    const Places places = parts.at(i)->traits().places;
    if (places.input || places.positions)
      refuse_at(cross.position[i].source,
                fmt::format("{} acts on {}, before the layers, so cross-attention cannot use it: give it as `position` "
                            "of encoder and decoder",
                            cross.position[i].kind, places.input ? "the input" : "positions"));
  }
  return position;
}

// The last `keep` tokens of what was held and of x behind it, without gradient. A copy: a view would hold all of x.
Tensor moved_on(const Tensor& held, const Tensor& x, int64_t keep) {
  const at::NoGradGuard no_gradients;
  const Tensor fresh = x.slice(1, std::max<int64_t>(x.size(1) - keep, 0));
  if (!held.defined()) return fresh.clone();
  return at::cat({held.slice(1, std::max<int64_t>(held.size(1) + fresh.size(1) - keep, 0)), fresh}, 1);
}

}  // namespace

PositionFacts position_facts(const StackConfig& c, bool causal, int64_t trained_length) {
  const AttentionConfig attention = resolve_blocks(c).at(0).attention.config;
  return {.dim = c.dim,
          .heads = attention.heads,
          .kv_heads = attention.kv_heads,
          .head_dim = attention.head_dim,
          .layers = c.layers,
          .max_length = c.max_length,
          .causal = causal,
          .softcap = attention.softcap.has_value(),
          .scale = attention.scale,
          .trained_length = trained_length};
}

Stack::Stack(const StackConfig& config, bool causal, int64_t trained_length, const std::optional<CrossAttention>& cross)
    : Stack(config, causal, servable_position(config, config.position, position_facts(config, causal, trained_length)),
            cross ? servable_cross_position(config, *cross, trained_length) : nullptr) {}

Stack::Stack(const StackConfig& config, bool causal, std::shared_ptr<PositionEncoding> position)
    : Stack(config, causal, std::move(position), nullptr) {}

Stack::Stack(const StackConfig& config, bool causal, std::shared_ptr<PositionEncoding> position,
             std::shared_ptr<PositionEncoding> cross_position)
    : causal_(causal) {
  position_ = register_module("position", std::move(position));
  if (cross_position != nullptr) cross_position_ = register_module("cross_position", std::move(cross_position));
  const auto norm = [&](const char* name) {
    return register_module(name, std::make_shared<Norm>(config.dim, config.norm.kind, config.bias, config.norm.eps));
  };
  if (config.embedding_norm) embedding_norm_ = norm("embedding_norm");
  dropout_ = register_module("dropout", std::make_shared<Dropout>(config.dropout));
  const auto list = register_module("blocks", std::make_shared<torch::nn::Module>());
  const KernelFacts facts = kernel_facts(config);
  const auto make_kernel = [&] { return kernels().build(config.attention.kernel, facts); };
  const auto never =
      never_works(make_kernel()->traits(), config.attention.kernel.kind, position_->traits(), "this encoding");
  if (never) throw KernelRefusal(*never);
  for (BlockConfig block : resolve_blocks(config)) {
    AttentionParts cross;
    if (cross_position_) {
      block.cross = block.attention;
      block.cross->window = {};  // of a row's own tokens
      cross = {make_kernel(), cross_position_.get()};
    }
    blocks_.push_back(list->register_module(
        std::to_string(block.attention.layer),
        std::make_shared<Block>(block, AttentionParts{make_kernel(), position_.get()}, std::move(cross))));
  }
  if (config.norm.placement != NormPlacement::post) norm_ = norm("norm");
}

void Stack::recompute(const std::vector<bool>& blocks) {
  require<ConfigError>(blocks.empty() || blocks.size() == blocks_.size(), "recompute: {} flags for {} blocks",
                       blocks.size(), blocks_.size());
  recompute_ = blocks;
}

Tensor Stack::forward(Tensor x, const Context& given) {
  Context c = given;
  c.mask.causal = causal_;
  {
    const AutocastScope off(x.device().type(), no_autocast());  // encodings compute in full precision
    c.at = position_->place(given.at, x.size(0), given.draw);
    x = position_->input(x, c.at);
  }
  if (c.cache != nullptr) c.cache->advance(c.at, c.mask);
  if (c.memory.cache != nullptr && c.memory.hidden.defined())
    c.memory.cache->advance(c.memory.at, {.keys = c.memory.keys});
  if (embedding_norm_) x = embedding_norm_->forward(x);
  x = run_blocks(dropout_->forward(x, c.draw), c);
  return norm_ ? norm_->forward(x) : x;
}

Tensor Stack::run_blocks(Tensor x, Context c) {
  SegmentMemory* const segments = std::exchange(c.segments, nullptr);  // no replay may move it on again
  const std::vector<Tensor> held = segments != nullptr ? std::exchange(segments->hidden, {}) : std::vector<Tensor>{};
  if (!held.empty()) c.before.at = consecutive(0, held[0].size(1) + x.size(1), x.device());
  const bool may_recompute =
      !recompute_.empty() && at::GradMode::is_enabled() && c.cache == nullptr && c.probe == nullptr;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (!held.empty()) c.before.hidden = held[i];
    if (segments != nullptr) segments->hidden.push_back(moved_on(c.before.hidden, x, c.kept_tokens));
    x = may_recompute && recompute_[i] ? replayed(blocks_[i], x, c) : blocks_[i]->forward(x, c);
    if (c.probe != nullptr) c.probe->block(static_cast<int64_t>(i), x);
  }
  return x;
}

// A block that keeps nothing but its input. It reads its own parameters, those of the encodings, which all blocks
// share, and the memory.
Tensor Stack::replayed(const std::shared_ptr<Block>& block, const Tensor& x, const Context& c) {
  std::vector<Tensor> reads = block->parameters();
  for (const auto& encoding : {position_, cross_position_}) {
    if (!encoding) continue;
    const std::vector<Tensor> shared = encoding->parameters();
    reads.insert(reads.end(), shared.begin(), shared.end());
  }
  if (c.memory.hidden.defined()) reads.push_back(c.memory.hidden);
  return ordo::recompute(
      [block, position = position_, cross = cross_position_, c](const Tensor& h) { return block->forward(h, c); }, x,
      std::move(reads));
}

}  // namespace ordo
