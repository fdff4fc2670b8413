// SPDX-License-Identifier: Apache-2.0
// FIRE (Li et al. 2024): a small learned function of how far back a key lies, as a share of what a query can see.
//   bias_h = f_h( psi(i - j) / (psi(max(i, |l L|)) + eps) ),   psi(x) = ln(|c x| + 1),   f: 1 -> hidden -> H with ReLU
// c and l are learned, L is fixed. The argument stays within [0, 1] at any length. Causal stacks only; what a prefix
// shows ahead counts as distance 0. Positions count from 0, and past |l L| the bias depends on i itself: a common shift
// changes nothing up to there only. Up to there it is also a function of the offset, which kernels use (by_offset).
#pragma once
#include "ordo/positions/score_parts.h"

namespace ordo {

class Fire final : public PositionEncoding, public Resets {
 public:
  struct Config {
    int64_t hidden = 32;
    double init_c = 0.1;
    double init_L = 0.0;  // 0: the length that the model is trained at (its max_length)
    double eps = 1e-6;
    bool shared = true;  // one function for all layers; false: one a layer
  };
  static constexpr std::string_view kKind = "fire",
                                    kSummary = "a learned function of the distance as a share of what a query sees";
  Fire(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.scores = true}}; }
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override;
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  // Parameters of these names; with `shared: false` the layers come first.
  struct Numbers {
    Tensor w1, b1, w2, b2;   // [hidden], [hidden], [H, hidden], [H]
    Tensor c, L_multiplier;  // one number each
  };
  struct Bias;
  Config config_;  // init_L resolved
  LayerSets sets_;
  Numbers all_;
};
void fields(Fields& f, Fire::Config& c);

}  // namespace ordo
