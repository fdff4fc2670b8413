// SPDX-License-Identifier: Apache-2.0
// How rows of a position encoding join the input. Added: x + P, without a parameter; rows of another width are
// projected first, x + W2 P. Concatenated: W [x ; P] + b, computed as W1 x + W2 P + b, so that rows which a batch
// shares are projected once; it starts near the identity, and adding is the special case W = [I | I].
#pragma once
#include <memory>

#include "ordo/nn/module.h"

namespace ordo {

enum class FusionMode { add, concat };

// Settings that encodings which give each position a row have beside their own: their fields() call this one's, at the
// same level.
struct FusionSettings {
  FusionMode fusion = FusionMode::add;
  int64_t position_dim = 0;  // width Dp of the rows; 0: the model's
};
void fields(Fields& f, FusionSettings& c);

// Register it as the child "fusion". Parameters: none when rows of the model's width are added; "weight" [D, Dp] when
// others are; "weight" [D, D + Dp] and "bias" [D] when they are concatenated.
class Fusion final : public torch::nn::Module, public Resets {
 public:
  Fusion(const FusionSettings& settings, int64_t dim);
  int64_t width() const { return width_; }  // Dp: what the rows must have
  // x [B, L, D], rows [1|B, L, Dp] -> [B, L, D] of x's type, computed in the rows' type.
  Tensor forward(const Tensor& x, const Tensor& rows) const;
  // The projection starts as N(0, Dp^-0.5) for adding, as [I | N(0, 0.02)] for concatenating; the bias as zeros.
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  FusionMode mode_;
  int64_t dim_, width_;
  Tensor weight_, bias_;
};

}  // namespace ordo
