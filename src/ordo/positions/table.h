// SPDX-License-Identifier: Apache-2.0
// Rows that depend on the position alone (sines, angles): computed in fp64, rounded once, kept, grown by doubling.
#pragma once
#include <functional>
#include <mutex>

#include "ordo/ops/sequence.h"

namespace ordo {

class PositionTable {
 public:
  // positions fp64 [...] -> rows fp64 [..., W].
  using Rows = std::function<Tensor(const Tensor& positions)>;
  explicit PositionTable(Rows rows) : rows_(std::move(rows)) {}
  // [1|B, L, W] of `type`, without gradient, on the positions' device. Real-valued positions (coords of one axis) and
  // negative ones are computed afresh, and so are few ones far past what is kept.
  Tensor at(const Positions& at, at::ScalarType type);

 private:
  // So far past what is kept and what is asked for that a table up to there would be waste.
  bool far(int64_t end, int64_t asked) const;
  void grow(int64_t length, at::ScalarType type, at::Device device);
  Rows rows_;
  std::mutex growing_;  // several threads may ask one model
  Tensor kept_;         // [capacity, W]
};

// Real-valued positions as fp64 [B, L]: the one axis of `coords`, else the index. Throws when there are more axes.
Tensor real_positions(const Positions& at);

}  // namespace ordo
