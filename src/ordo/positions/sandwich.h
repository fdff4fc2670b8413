// SPDX-License-Identifier: Apache-2.0
// Sandwich (Chi et al. 2023): what is left of sinusoids when only their products with each other are kept. With d the
// distance, D' = sandwich_dim and heads h = 1 … H:
//   bias_h = (sum over m = 1 … D'/2 of cos(d / theta^(2m/D')) - D'/2) / (8 h / H)
// 0 at distance 0 and falling, slower for later heads. Nothing is learned; both sides of a query are alike.
#pragma once
#include "ordo/positions/encoding.h"
#include "ordo/positions/fixed.h"
#include "ordo/positions/table.h"

namespace ordo {

class Sandwich final : public PositionEncoding {
 public:
  struct Config {
    int64_t sandwich_dim = 128;
    double theta = 10000.0;
  };
  static constexpr std::string_view kKind = "sandwich",
                                    kSummary = "adds to each score a fixed sum of cosines of the distance";
  Sandwich(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.scores = true}, .relative = true}; }
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override;

 private:
  struct Bias;
  std::shared_ptr<PositionTable> sums_;  // [distance, 1]: the sum of cosines, less D'/2; biases outlive a call
  FixedTensor shares_;                   // fp64 [H]: H / 8h
};
void fields(Fields& f, Sandwich::Config& c);

}  // namespace ordo
