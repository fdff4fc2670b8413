// SPDX-License-Identifier: Apache-2.0
// SHAPE, shifted absolute positions (Kiyono et al. 2021): in training, all positions of a row are moved by one number
// drawn from {0 … max_shift}, so that an absolute encoding learns to read distances. In evaluation nothing moves.
#pragma once
#include "ordo/positions/moves.h"

namespace ordo {

class ShiftedPositions final : public PositionMove {
 public:
  struct Config {
    int64_t max_shift = 100;
  };
  static constexpr std::string_view kKind = "shape",
                                    kSummary = "moves positions: in training each row by a drawn number";
  ShiftedPositions(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.positions = true}, .relative = true}; }
  Positions place(const Positions& at, int64_t rows, const Draw& draw) override;
  int64_t reach(int64_t length) const override { return is_training() ? length + max_shift_ : length; }

 private:
  int64_t max_shift_;
};
void fields(Fields& f, ShiftedPositions::Config& c);

}  // namespace ordo
