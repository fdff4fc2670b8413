// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/offsets.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/arange.h>

namespace ordo {

void refuse_coords(const Positions& at, std::string_view kind, std::string_view instead) {
  require<ConfigError>(!at.coords.defined(), "{}: it counts tokens, and cannot read real-valued positions; use {}",
                       kind, instead);
}

void refuse_coords(const AttentionPass& pass, std::string_view kind, std::string_view instead) {
  refuse_coords(pass.q, kind, instead);
  refuse_coords(pass.k, kind, instead);
}

std::pair<int64_t, int64_t> offset_range(const Positions& q, const Positions& k) {
  if (q.start && k.start) {
    const int64_t first = *k.start - *q.start;
    return {first - (q.length() - 1), first + k.length() - 1};
  }
  if (q.index.numel() == 0 || k.index.numel() == 0) return {0, 0};
  const auto [q_low, q_high] = at::aminmax(q.index);
  const auto [k_low, k_high] = at::aminmax(k.index);
  return {(k_low - q_high).item<int64_t>(), (k_high - q_low).item<int64_t>()};
}

Tensor offsets_of_call(const Positions& q, const Positions& k) {
  const auto [low, high] = offset_range(q, k);
  return at::arange(low, high + 1, q.index.options());
}

}  // namespace ordo
