// SPDX-License-Identifier: Apache-2.0
// PaTH (Yang et al. 2025), causal: between a key and a query lie Householder-like factors of the tokens in between,
//   score (i, j) = scale x q_i (I - b_i w_i w_i^T) (I - b_{i-1} w_{i-1} w_{i-1}^T) … (I - b_{j+1} w_{j+1} w_{j+1}^T)
//   k_j
// with w of unit length and b in (0, 2) made from the block's input, for each group of key heads. A cache keeps w and b
// beside keys that stay as they are. Factors of padding and of other documents are the identity.
#pragma once
#include "ordo/positions/encoding.h"

namespace ordo {

class Path final : public PositionEncoding, public Resets {
 public:
  struct Config {
    int64_t rank = 32;  // of the map from x to w; 0: full
  };
  static constexpr std::string_view kKind = "path",
                                    kSummary = "scores pass through reflections by the tokens in between";
  static constexpr int64_t kBlock = 64;  // columns that are solved for together
  Path(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override {
    return {.places = {.scores = true}, .relative = true, .reads_content = true, .takes_axes = -1};
  }
  int64_t keeps() const override { return groups_ * (head_dim_ + 1); }
  Tensor keep(const Tensor& x, const Positions& at, int64_t layer) override;  // [B, L, w of each group | b of each]
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override;
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  int64_t heads_, groups_, head_dim_;
  Tensor down_;         // parameter "down" [layers, rank, D]; undefined when full
  Tensor up_;           // parameter "up" [layers, G E, rank or D]
  Tensor gate_, bias_;  // parameters "gate" [layers, G, D], "gate_bias" [layers, G]: b = 2 sigmoid(gate x + bias)
};
void fields(Fields& f, Path::Config& c);

}  // namespace ordo
