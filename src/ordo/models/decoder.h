// SPDX-License-Identifier: Apache-2.0
// The decoder-only language model (Radford et al. 2019 and its kin): embedding, a causal stack, a head.
#pragma once
#include <memory>

#include "ordo/models/stack.h"

namespace ordo {

class Decoder final : public Model {
 public:
  struct Config : StackConfig {};
  static constexpr std::string_view kKind = "decoder", kSummary = "decoder-only language model: causal self-attention";
  Decoder(const Config& config, const ModelFacts& facts);  // draws its weights from (facts.seed, parameter name)
  Tensor forward(const ModelInput& in, KVCache* cache = nullptr) override;
  Head& head() override { return *head_; }
  std::shared_ptr<KVCache> make_cache() const override;
  int64_t max_length() const override { return config_.max_length; }
  PositionEncoding& position() override { return decoder_->position(); }
  ModelCost cost(int64_t length) const override;
  void recompute(const std::vector<bool>& blocks) override { decoder_->recompute(blocks); }
  int64_t layers() const override { return config_.layers; }
  int64_t dim() const override { return config_.dim; }

 private:
  Config config_;
  std::shared_ptr<Embedding> embedding_;  // child "embedding"
  std::shared_ptr<Stack> decoder_;        // child "decoder": parameters are decoder.blocks.3.attention.q.weight
  std::shared_ptr<Head> head_;            // child "head"; tied: no weight of its own
};
void fields(Fields& f, Decoder::Config& c);

}  // namespace ordo
