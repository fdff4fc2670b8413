// SPDX-License-Identifier: Apache-2.0
// CAPE, continuous augmented positions (Likhomanenko et al. 2021): in training, position i of a row becomes
// (i - mean + U(±global_shift) + U(±local_shift)) exp(U(±ln scale)), with one global shift and one scale a row and a
// local shift for each token; in evaluation i - mean. The results are real numbers (`coords`, one axis), which
// sinusoidal and rope take; tables and biases of whole offsets refuse them.
// The mean, subtracted when `normalize` is set, is that of the token's document. A causal stack has not seen the rest
// of it, and a cache never will: there it is the mean of 0 … max_length - 1 for every row, so that a prefix keeps its
// positions.
#pragma once
#include "ordo/positions/moves.h"

namespace ordo {

class Cape final : public PositionMove {
 public:
  struct Config {
    double global_shift = 5.0, local_shift = 0.5;
    double scale = 1.03;
    bool normalize = true;
    double freq_scale = 1.0;  // multiplies what comes out, for positions of another unit than tokens
  };
  static constexpr std::string_view kKind = "cape",
                                    kSummary = "moves positions: centred, in training shifted and scaled at random";
  Cape(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.positions = true}, .relative = true, .gives_axes = 1}; }
  Positions place(const Positions& at, int64_t rows, const Draw& draw) override;

 private:
  Tensor augmented(const Tensor& where, int64_t rows, const Draw& draw) const;  // [1|B, L] -> [B, L]
  Config config_;
  std::optional<double> centre_;  // of every row; absent: each document's own mean
};
void fields(Fields& f, Cape::Config& c);

}  // namespace ordo
