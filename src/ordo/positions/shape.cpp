// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/shape.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>

namespace ordo {

void fields(Fields& f, ShiftedPositions::Config& c) {
  f("max_shift", c.max_shift, "in training, positions of a row are moved by one number from 0 to this", at_least(0));
}

ShiftedPositions::ShiftedPositions(const Config& config, const PositionFacts&)
    : PositionMove(kKind), max_shift_(config.max_shift) {}

Positions ShiftedPositions::place(const Positions& at, int64_t rows, const Draw& draw) {
  require_whole(kKind, at);
  if (!is_training() || max_shift_ == 0) return at;
  const uint64_t batch = draw_key(draw);
  std::vector<int64_t> shifts;
  for (int64_t row = 0; row < rows; ++row)
    shifts.push_back(static_cast<int64_t>(
        KeyedSequence(mix(batch, static_cast<uint64_t>(row))).below(static_cast<uint64_t>(max_shift_) + 1)));
  return {.index = at.index + at::tensor(shifts, at::kLong).unsqueeze(1).to(at.index.device())};
}

}  // namespace ordo
