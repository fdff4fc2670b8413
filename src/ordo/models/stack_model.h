// SPDX-License-Identifier: Apache-2.0
// Embedding, one stack, head: what a decoder-only language model and an encoder have in common.
#pragma once
#include <memory>
#include <string>

#include "ordo/models/stack.h"
#include "ordo/models/token_input.h"

namespace ordo {

class StackModel : public Model {
 public:
  Tensor forward(const ModelInput& in, KVCache* cache = nullptr) override;
  Head& head() override { return *head_; }
  int64_t max_length() const override { return config_.max_length; }
  bool causal() const override { return causal_; }
  PositionEncoding& position() override { return stack_->position(); }
  ModelCost cost(int64_t length) const override;
  void recompute(const std::vector<bool>& blocks) override { stack_->recompute(blocks); }
  int64_t layers() const override { return config_.layers; }
  int64_t dim() const override { return config_.dim; }

 protected:
  // `name` is the stack's in parameter paths ("decoder": decoder.blocks.3.attention.q.weight). Weights are drawn from
  // (facts.seed, parameter name).
  StackModel(const std::string& name, const StackConfig& config, const ModelFacts& facts, bool causal);

 private:
  StackConfig config_;
  bool causal_;
  std::shared_ptr<TokenInput> embedding_;  // child "embedding"
  std::shared_ptr<Stack> stack_;           // child `name`
  std::shared_ptr<Head> head_;             // child "head"; tied: no weight of its own
};

}  // namespace ordo
