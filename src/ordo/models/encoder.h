// SPDX-License-Identifier: Apache-2.0
// The encoder (Devlin et al. 2019 and its kin): embedding, a stack whose tokens see both sides, a head.
#pragma once
#include <memory>

#include "ordo/models/stack_model.h"

namespace ordo {

class Encoder final : public StackModel {
 public:
  struct Config : StackModelConfig {};
  static constexpr std::string_view kKind = "encoder",
                                    kSummary = "encoder: self-attention that sees both sides of a token";
  // Parameters are encoder.blocks.3.attention.q.weight.
  Encoder(const Config& config, const ModelFacts& facts) : StackModel("encoder", config, facts, /*causal=*/false) {}
  std::shared_ptr<Cache> make_cache() const override;  // throws ConfigError: there is nothing to go on from
};
void fields(Fields& f, Encoder::Config& c);

}  // namespace ordo
