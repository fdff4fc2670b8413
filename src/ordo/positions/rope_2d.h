// SPDX-License-Identifier: Apache-2.0
// Rotary encoding over a grid: half of a head's pairs turn by the row, half by the column (in this order, half layout).
//   pixtral  w_m = theta^(-2m/d): even m for the row, odd m for the column; theta 10000 (Pixtral: Agrawal et al. 2024)
//   dinov3   patch centres scaled to [-1, 1], angles 2 pi x theta^(-4m/d) on both axes; theta 100 (Simeoni et al. 2025)
// Tokens bring `coords` of two axes, row and column; without them the index runs through a grid of `width` columns row
// by row. The first `prefix_tokens` positions (class and register tokens) are not turned.
//
// In training the coordinates (of dinov3: the scaled ones) may be shifted, stretched along each axis (jitter) and
// stretched as a whole (rescale), in this order, the same for all tokens of a micro-batch; never in evaluation.
#pragma once
#include "ordo/positions/fixed.h"
#include "ordo/positions/moves.h"
#include "ordo/positions/table.h"

namespace ordo {

class Rope2d final : public PositionMove {
 public:
  enum class Variant { pixtral, dinov3 };
  struct Config {
    Variant variant = Variant::pixtral;
    std::optional<double> theta = {};  // absent: 10000 (pixtral), 100 (dinov3)
    int64_t width = 8;
    std::optional<int64_t> height = {};  // for dinov3; absent: as many as columns
    int64_t prefix_tokens = 0;
    double shift = 0.0;    // U(-shift, shift) along each axis
    double jitter = 1.0;   // a factor of each axis, exp U(-ln jitter, ln jitter)
    double rescale = 1.0;  // a factor of both, exp U(-ln rescale, ln rescale)
  };
  static constexpr std::string_view kKind = "rope_2d",
                                    kSummary = "rotary turns by row and column, for grids of patches";
  Rope2d(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override {
    return {.places = {.query_key = true, .positions = moves()}, .gives_axes = moves() ? 2 : 0, .takes_axes = 2};
  }
  Positions place(const Positions& at, int64_t rows, const Draw& draw) override;
  Tensor query(const Tensor& q, const Positions& at, int64_t layer) override;
  Tensor key(const Tensor& k, const Positions& at, int64_t layer) override;
  Tensor frequencies(int64_t length) const override;  // radians a row, then radians a column

 private:
  // Where a token's coordinates come from, and how they turn it.
  struct Grid {
    int64_t width, prefix_tokens;
    FixedTensor origin;                                                  // fp64 [2]: the row and column of angle 0
    FixedTensor frequencies;                                             // fp64 [2, d/4]
    Tensor coordinates(const Tensor& index) const;                       // [...] -> fp64 [..., 2]
    Tensor table(const Tensor& coordinates, const Tensor& index) const;  // [..., 2], [...] -> fp64 [..., d]
  };
  static Grid grid_of(const Config& config, const PositionFacts& facts);
  bool moves() const { return config_.shift > 0.0 || config_.jitter > 1.0 || config_.rescale > 1.0; }
  Tensor turned(const Tensor& x, const Positions& at);
  Config config_;
  Grid grid_;
  PositionTable table_;  // of tokens without coords
};
void fields(Fields& f, Rope2d::Config& c);

}  // namespace ordo
