// SPDX-License-Identifier: Apache-2.0
// ALiBi (Press et al. 2022): subtracts slope x distance from each score, with a slope for each head: fixed, or learned
// from there on (its logarithm is the parameter, so that a slope stays above 0).
#pragma once
#include <vector>

#include "ordo/positions/encoding.h"
#include "ordo/positions/fixed.h"

namespace ordo {

class Alibi final : public PositionEncoding, public Resets {
 public:
  enum class Direction {
    causal,      // the past alone is there
    symmetric,   // both sides alike
    asymmetric,  // past distances shortened by 0.5 (Ruoss et al. 2023)
    split,       // half of the heads looks back, the other half ahead (the authors' advice for encoders)
  };
  struct Config {
    double alibi_bias_max = 8.0;              // the last head's slope is 2^-alibi_bias_max
    std::optional<Direction> direction = {};  // absent: causal in causal stacks, symmetric in others
    int64_t num_alibi_heads = 0;              // the first so many heads; 0: all
    bool learned_slopes = false;              // one set for all layers
  };
  static constexpr std::string_view kKind = "alibi", kSummary = "subtracts a slope times the distance from each score";
  Alibi(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.scores = true}, .relative = true}; }
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override;
  void reset(const Initialiser& init, const std::string& path) override;
  // Powers of 2^(-bias_max/n). When n is no power of two: those of the next lower power p, then every other one of 2p.
  static std::vector<double> slopes(int64_t heads, double bias_max);

 private:
  struct Bias;
  Direction direction_;
  FixedTensor slopes_;  // fp64 [H]; 0 for heads without a bias
  int64_t biased_;      // how many heads have one
  Tensor log_slopes_;   // parameter "log_slopes" [biased_], or undefined
};
void fields(Fields& f, Alibi::Config& c);

}  // namespace ordo
