// SPDX-License-Identifier: Apache-2.0
// Contextual positions (Golovneva et al. 2024), causal: a query counts the keys that it opens a gate for,
//   p_ij = min(sum of sigmoid(q_i . k_t x scale) over the keys t = j … i, npos_max - 1),
// and the score of (i, j) gains q_i . E[p_ij], E read between its rows. Gates of hidden keys are 0.
#pragma once
#include "ordo/positions/encoding.h"

namespace ordo {

class Cope final : public PositionEncoding, public Resets {
 public:
  enum class Scale {
    official,  // (q . k + q . E) x scale, as the authors' code
    nodiv,     // q . k x scale + q . E, as the paper's listing
  };
  struct Config {
    int64_t npos_max = 64;
    Scale scale = Scale::official;
    double init_std = 0.0;  // the authors start from zeros
  };
  static constexpr std::string_view kKind = "cope",
                                    kSummary = "positions counted by gates of the content, not by tokens";
  Cope(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override {
    return {.places = {.scores = true}, .relative = true, .reads_content = true, .takes_axes = -1};
  }
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override;
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  Config config_;
  Tensor weight_;  // parameter "weight" [layers, npos_max, E], shared by the heads
};
void fields(Fields& f, Cope::Config& c);

// z [..., P] read between its entries at p = min(sum of gates from a column to the last, P - 1), for each column: gates
// [B, H, q, k], seen bool [1|B, 1, q, k], z [B, H, q, P] -> [B, H, q, k]. Differentiable in gates and z. On the CPU it
// holds its arguments and nothing else.
Tensor read_at_counts(const Tensor& gates, const Tensor& seen, const Tensor& z);
// The same from LibTorch's operators, on any device; holds several tensors of the result's shape.
Tensor read_at_counts_by_operators(const Tensor& gates, const Tensor& seen, const Tensor& z);

}  // namespace ordo
