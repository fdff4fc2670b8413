// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/stack_model.h"

#include "ordo/config/config.h"
#include "ordo/models/cost.h"

namespace ordo {

namespace {

StackConfig completed(StackConfig config, const ModelFacts& facts) {
  Problems problems;
  check(config, "model", problems);
  problems.throw_if_any();
  complete(config, facts);
  return config;
}

}  // namespace

StackModel::StackModel(const std::string& name, const StackConfig& config, const ModelFacts& facts, bool causal)
    : config_(completed(config, facts)), causal_(causal) {
  embedding_ = register_module("embedding",
                               std::make_shared<TokenInput>(facts.vocab_size, config_.dim, config_.scale_embedding));
  stack_ = register_module(name, std::make_shared<Stack>(config_, causal, facts.trained_length));
  head_ = register_module("head", make_head(config_, embedding_->weight));
  initialise(*this, facts.seed, config_.init, config_.layers);
}

Tensor StackModel::forward(const ModelInput& in, KVCache* cache) {
  const Tensor x = embedding_->forward(in.ids, in.at, in.mask);
  check_reach(position(), in.at, in.ids.size(1) + (cache != nullptr ? cache->size() : 0));
  return stack_->forward(x, {.at = in.at, .mask = in.mask, .draw = in.draw, .cache = cache, .probe = in.probe});
}

ModelCost StackModel::cost(int64_t length) const {
  ModelCost total = stack_cost(config_, causal_, length);
  total.flops_per_token += 2.0 * static_cast<double>(config_.dim) * static_cast<double>(embedding_->weight.size(0));
  return total;
}

}  // namespace ordo
