// SPDX-License-Identifier: Apache-2.0
// LieRE (Ostmeier et al. 2024): a head's channels are turned, block by block, by exp(sum over axes of p_a A_a), p the
// token's coordinates and A_a learned skew-symmetric matrices, one a layer, axis and block. Blocks of two channels are
// rope with learned frequencies. The matrices start as those of rope (interleaved pairs, of several axes one after
// another) and, with init_std above 0, noise in all other places, those of a pair under the axes that do not turn it at
// first among them.
//
// Tokens bring `coords` of `axes` axes; without them the index stands for each. With one axis scores depend on the
// distance alone; the matrices of several axes need not commute, so then they do not.
#pragma once
#include "ordo/positions/encoding.h"
#include "ordo/positions/fixed.h"

namespace ordo {

class Liere final : public PositionEncoding, public Resets {
 public:
  struct Config {
    int64_t axes = 1;
    int64_t block = 0;  // 0: the widest of 8, 4 and 2 that divides the head
    double theta = 10000.0;
    double init_std = 0.0;
  };
  static constexpr std::string_view kKind = "liere",
                                    kSummary = "turns by matrices that are learned, one for each axis of the positions";
  Liere(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override {
    return {.places = {.query_key = true}, .relative = config_.axes == 1, .takes_axes = config_.axes};
  }
  Tensor query(const Tensor& q, const Positions& at, int64_t layer) override;
  Tensor key(const Tensor& k, const Positions& at, int64_t layer) override;
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  Tensor turned(const Tensor& x, const Positions& at, int64_t layer) const;
  Config config_;
  int64_t head_dim_;
  FixedTensor below_;  // int64 [n]: places of a block's entries below the diagonal, row by row
  Tensor weight_;      // [layers, axes, blocks, n]: those entries
};
void fields(Fields& f, Liere::Config& c);

}  // namespace ordo
