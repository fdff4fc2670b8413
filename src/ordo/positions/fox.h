// SPDX-License-Identifier: Apache-2.0
// Forgetting attention (Lin et al. 2025): a gate f = sigmoid(w x + b) for each key and head; score (i, j) gains the sum
// of ln f over the keys j + 1 … i. Padding counts as ln f = 0. Two-sided stacks have gates of their own for each side:
// keys behind the query gain the sum over i + 1 … j of the other side's.
#pragma once
#include "ordo/positions/encoding.h"

namespace ordo {

class Fox final : public PositionEncoding, public Resets {
 public:
  struct Config {
    double bias_init = 5.0;  // of b: gates start at sigmoid(5), next to open
  };
  static constexpr std::string_view kKind = "fox",
                                    kSummary = "a learned gate for each key, which fades what came before it";
  Fox(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.scores = true}, .relative = true, .takes_axes = -1}; }
  int64_t keeps() const override { return bias_.size(1); }
  Tensor keep(const Tensor& x, const Positions& at,
              int64_t layer) override;  // ln f [B, L, H], or both sides' [B, L, 2H]
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override;
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  double bias_init_;
  int64_t heads_;
  bool causal_;
  Tensor weight_, bias_;  // parameters "weight" [layers, H|2H, D], "bias" [layers, H|2H]
};
void fields(Fields& f, Fox::Config& c);

}  // namespace ordo
