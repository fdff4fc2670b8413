// SPDX-License-Identifier: Apache-2.0
// What the tests of the rotary family share.
#pragma once
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "support/position_text.h"
#include "support/positions.h"

namespace ordo::test {

inline PositionFacts heads_of(int64_t head_dim, int64_t max_length = 64) {
  return {.dim = head_dim,
          .heads = 1,
          .kv_heads = 1,
          .head_dim = head_dim,
          .layers = 1,
          .max_length = max_length,
          .causal = true};
}

// The turn of a query whose pairs are (1, 0): half layout, so cosines first, then sines. [1|B, L, d].
inline Tensor turn_of(PositionEncoding& encoding, const Positions& at, int64_t head_dim,
                      at::ScalarType type = at::kFloat) {
  const int64_t rows = at.coords.defined() ? at.coords.size(0) : at.index.size(0);
  const auto options = at::TensorOptions(type);
  const Tensor one = at::cat({at::ones({rows, 1, at.length(), head_dim / 2}, options),
                              at::zeros({rows, 1, at.length(), head_dim / 2}, options)},
                             3);
  return encoding.query(one, at, 0).squeeze(1);
}

// q [B, H, L, E], k [B, G, L, E] of one length, turned where they stand, against each other: [B, H, L, L].
inline Tensor turned_scores(PositionEncoding& encoding, const Tensor& q, const Tensor& k, const Positions& at) {
  return encoding.query(q, at, 0).matmul(repeat_groups(encoding.key(k, at, 0), q.size(1)).transpose(2, 3));
}

}  // namespace ordo::test
