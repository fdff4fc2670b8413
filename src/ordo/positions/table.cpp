// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/table.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

namespace ordo {

Tensor real_positions(const Positions& at) {
  if (!at.coords.defined()) return at.index.to(at::kDouble);
  require<ConfigError>(at.coords.size(-1) == 1,
                       "this position encoding takes one coordinate a token, found {}; use one made for several axes",
                       at.coords.size(-1));
  return at.coords.select(-1, 0).to(at::kDouble);
}

void PositionTable::grow(int64_t length, at::ScalarType type, at::Device device) {
  constexpr int64_t kSmallest = 64;
  const bool same = kept_.defined() && kept_.scalar_type() == type && kept_.device() == device;
  if (same && kept_.size(0) >= length) return;
  const c10::InferenceMode ordinary(false);  // the table outlives the call: training may save it for backward
  const at::NoGradGuard no_grad;
  const int64_t capacity = std::max({length, kSmallest, same ? 2 * kept_.size(0) : int64_t{0}});
  kept_ = rows_(at::arange(capacity, at::TensorOptions(at::kDouble).device(device))).to(type);
}

bool PositionTable::far(int64_t end, int64_t asked) const {
  constexpr int64_t kSteps = 8, kAlways = 1 << 16;  // rows that may be kept whatever is asked
  return end > kAlways && end > kSteps * std::max(asked, kept_.defined() ? kept_.size(0) : int64_t{0});
}

Tensor PositionTable::at(const Positions& at, at::ScalarType type) {
  const at::NoGradGuard no_grad;
  if (at.coords.defined()) return rows_(real_positions(at)).to(type);
  const std::lock_guard lock(growing_);
  if (at.start && *at.start >= 0) {
    const int64_t end = *at.start + at.length();
    if (far(end, at.length())) return rows_(real_positions(at)).to(type);
    grow(end, type, at.index.device());
    return kept_.slice(0, *at.start, end).unsqueeze(0);
  }
  // Only the CPU can look at the numbers without waiting for them.
  if (!at.index.is_cpu() || at.index.numel() == 0) return rows_(real_positions(at)).to(type);
  const auto [low, high] = at::aminmax(at.index);
  if (low.item<int64_t>() < 0 || far(high.item<int64_t>() + 1, at.index.numel()))
    return rows_(real_positions(at)).to(type);
  grow(high.item<int64_t>() + 1, type, at.index.device());
  return at::embedding(kept_, at.index);
}

}  // namespace ordo
