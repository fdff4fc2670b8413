// SPDX-License-Identifier: Apache-2.0
// The decoder-only language model (Radford et al. 2019 and its kin): embedding, a causal stack, a head.
#pragma once
#include <memory>

#include "ordo/models/stack_model.h"

namespace ordo {

class Decoder final : public StackModel {
 public:
  struct Config : StackModelConfig {
    int64_t memory = 0;
  };
  static constexpr std::string_view kKind = "decoder", kSummary = "decoder-only language model: causal self-attention";
  // Parameters are decoder.blocks.3.attention.q.weight.
  Decoder(const Config& config, const ModelFacts& facts)
      : StackModel("decoder", config, facts, /*causal=*/true, config.memory) {}
  std::shared_ptr<Cache> make_cache() const override { return caches().build("full", {layers()}); }
};
void fields(Fields& f, Decoder::Config& c);

}  // namespace ordo
