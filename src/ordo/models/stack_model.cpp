// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/stack_model.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/aminmax.h>
#include <fmt/format.h>

#include <cmath>

#include "ordo/config/config.h"
#include "ordo/models/cost.h"
#include "ordo/ops/type_name.h"

namespace ordo {

namespace {

StackConfig completed(StackConfig config, const ModelFacts& facts) {
  if (config.max_length == 0) config.max_length = facts.max_length;
  Problems problems;
  check(config, "model", problems);
  problems.throw_if_any();
  require<ConfigError>(config.max_length > 0, "model.max_length is 0 and no train.length is known; give one of them");
  require<ConfigError>(facts.vocab_size > 0,
                       "the data names no vocabulary (vocab_size {}), so no embedding can be built", facts.vocab_size);
  return config;
}

// Looks where it costs nothing: on the CPU. Elsewhere the embedding's own kernel has the last word.
void check_ids(const Tensor& ids, int64_t vocab_size) {
  require(ids.scalar_type() == at::kLong, "token ids must be int64, found {}", type_name(ids.scalar_type()));
  if (!ids.is_cpu() || ids.numel() == 0) return;
  const auto [low, high] = at::aminmax(ids);
  if (low.item<int64_t>() >= 0 && high.item<int64_t>() < vocab_size) return;
  const Tensor wrong = ((ids < 0) | (ids >= vocab_size)).nonzero()[0];
  const int64_t row = wrong[0].item<int64_t>(), column = wrong[1].item<int64_t>();
  throw DataError(
      fmt::format("token id {} (row {}, column {}) is outside the vocabulary of {} ids (0 to {}); was the text encoded "
                  "with another tokenizer?",
                  ids[row][column].item<int64_t>(), row, column, vocab_size, vocab_size - 1));
}

// What a mask says of each fresh token has the shape of the ids.
void check_mask(const Mask& mask, int64_t B, int64_t L) {
  for (const auto& [t, name] : {std::pair{mask.keys, "mask.keys"}, std::pair{mask.q_segment, "mask.q_segment"},
                                std::pair{mask.k_segment, "mask.k_segment"}}) {
    if (!t.defined()) continue;
    require(t.dim() == 2 && (t.size(0) == 1 || t.size(0) == B) && t.size(1) == L,
            "{} has the shape {}, expected [1|B, L] of ids [{}, {}]", name,
            fmt::format("[{}]", fmt::join(t.sizes(), ", ")), B, L);
  }
}

// One past the last position in use. A device other than the CPU is not asked: there the columns are counted.
int64_t reach(const Positions& at, int64_t columns) {
  if (at.start) return *at.start + at.length();
  return at.index.is_cpu() && at.index.numel() > 0 ? at.index.max().item<int64_t>() + 1 : columns;
}

}  // namespace

StackModel::StackModel(const std::string& name, const StackConfig& config, const ModelFacts& facts, bool causal)
    : config_(completed(config, facts)), causal_(causal) {
  embedding_ = register_module("embedding", std::make_shared<Embedding>(facts.vocab_size, config_.dim));
  stack_ = register_module(name, std::make_shared<Stack>(config_, causal, facts.trained_length));
  head_ = register_module("head", config_.tie_embeddings
                                      ? std::make_shared<Head>(embedding_->weight, config_.softcap)
                                      : std::make_shared<Head>(config_.dim, facts.vocab_size, config_.softcap));
  initialise(*this, facts.seed, config_.init, config_.layers);
}

Tensor StackModel::forward(const ModelInput& in, KVCache* cache) {
  const auto [B, L] = sizes<2>(in.ids, "ids [B, L]");
  const auto [rows, length] = sizes<2>(in.at.index, "positions [1|B, L]");
  require((rows == 1 || rows == B) && length == L, "positions [{}, {}] do not fit ids [{}, {}]", rows, length, B, L);
  check_mask(in.mask, B, L);
  check_ids(in.ids, embedding_->weight.size(0));
  const auto refused = position().refuses_length(reach(in.at, L + (cache != nullptr ? cache->size() : 0)));
  require<ConfigError>(!refused, "{}", refused.value_or(""));
  Tensor x = embedding_->forward(in.ids);
  if (config_.scale_embedding) x = x * std::sqrt(static_cast<double>(config_.dim));
  return stack_->forward(x, {.at = in.at, .mask = in.mask, .draw = in.draw, .cache = cache, .probe = in.probe});
}

ModelCost StackModel::cost(int64_t length) const {
  ModelCost total = stack_cost(config_, causal_, length);
  total.flops_per_token += 2.0 * static_cast<double>(config_.dim) * static_cast<double>(embedding_->weight.size(0));
  return total;
}

}  // namespace ordo
