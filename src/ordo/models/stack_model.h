// SPDX-License-Identifier: Apache-2.0
// Input layer, one stack, head: what a decoder-only language model and an encoder have in common.
#pragma once
#include <memory>
#include <string>

#include "ordo/models/input.h"
#include "ordo/models/pool.h"
#include "ordo/models/stack.h"

namespace ordo {

// In YAML under `model`, beside what every stack has.
struct StackModelConfig : StackConfig {
  Choice<InputLayer> input{"tokens"};
  Pool pool = Pool::automatic;
  bool pooler = false;
  int64_t token_types = 0;
};
void fields(Fields& f, StackModelConfig& c);

class StackModel : public Model, public Resets {
 public:
  Tensor forward(const ModelInput& in, Cache* cache = nullptr) override;
  Tensor pooled(const ModelInput& in) override;
  Head& head() override { return *head_; }
  int64_t max_length() const override { return config_.max_length; }
  std::optional<std::string> refuses_length(int64_t length) override;
  bool causal() const override { return causal_; }
  PositionEncoding& position() override { return stack_->position(); }
  ModelCost cost(int64_t length) const override;
  void recompute(const std::vector<bool>& blocks) override { stack_->recompute(blocks); }
  int64_t layers() const override { return config_.layers; }
  int64_t dim() const override { return config_.dim; }
  void reset(const Initialiser& init, const std::string& path) override;
  int64_t kept_tokens() const final { return memory_; }

 protected:
  // `name` is the stack's in parameter paths ("decoder": decoder.blocks.3.attention.q.weight). Weights are drawn from
  // (facts.seed, parameter name). `memory`: tokens of the segments before that it keeps (ModelInput::memory).
  StackModel(const std::string& name, const StackModelConfig& config, const ModelFacts& facts, bool causal,
             int64_t memory = 0);

 private:
  // Tokens of rows of this length, the class token included.
  int64_t tokens(int64_t length) const { return input_->tokens(length) + (class_token_.defined() ? 1 : 0); }
  Embedded read(const ModelInput& in) const;
  void put_class_token(Embedded& read) const;
  Tensor run(const Embedded& read, const ModelInput& in, Cache* cache);
  void check_memory(const ModelFacts& facts);
  void go_on(Context& c, SegmentMemory& segments, int64_t rows) const;
  void build_head(const ModelFacts& facts);

  StackModelConfig config_;
  bool causal_, pools_;
  int64_t pooled_width_ = 0;  // of the vector of a row
  int64_t memory_;
  std::shared_ptr<InputLayer> input_;       // child "embedding"
  std::shared_ptr<Embedding> token_types_;  // child "token_types"; null: there are none
  Tensor class_token_;                      // [D]; undefined: there is none
  std::shared_ptr<Stack> stack_;            // child `name`
  std::shared_ptr<Linear> pooler_;          // child "pooler": tanh(W x + b) of the pooled vector (Devlin et al. 2019)
  std::shared_ptr<Head> head_;              // child "head"; tied: no weight of its own
};

}  // namespace ordo
