// SPDX-License-Identifier: Apache-2.0
// From token ids to what a stack reads.
#pragma once
#include "ordo/models/input.h"

namespace ordo {

class TokenInput final : public InputLayer, public Resets {
 public:
  struct Config {};
  static constexpr std::string_view kKind = "tokens", kSummary = "token ids, each a row of an embedding";
  TokenInput(const Config& config, const InputFacts& facts);
  TokenInput(int64_t vocab_size, int64_t dim, bool scaled);  // scaled: times sqrt(dim) (Vaswani et al. 2017)
  Embedded forward(const ModelInput& in) override { return {embed(in.ids, in.at, in.mask), in.at, in.mask}; }
  Tensor table() const override { return weight; }
  // ids int64 [B, L] -> [B, L, D]. Throws Error when positions or mask do not fit the ids, DataError for an id outside
  // the vocabulary.
  Tensor embed(const Tensor& ids, const Positions& at, const Mask& mask) const;
  void reset(const Initialiser& init, const std::string& path) override;
  Tensor weight;  // [V, D]
};
void fields(Fields& f, TokenInput::Config& c);

// Throws ConfigError when an encoding does not reach the positions in use; `columns`: how many tokens there are, those
// of a cache included.
void check_reach(PositionEncoding& position, const Positions& at, int64_t columns);

}  // namespace ordo
