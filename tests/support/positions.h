// SPDX-License-Identifier: Apache-2.0
// Small things that tests of encodings, kernels and models share.
#pragma once
#include <ATen/ops/empty.h>

#include "ordo/positions/encoding.h"

namespace ordo::test {

// Two layers, four heads over two groups, heads of eight channels.
inline PositionFacts small_facts() {
  return {.dim = 32, .heads = 4, .kv_heads = 2, .head_dim = 8, .layers = 2, .max_length = 16, .causal = true};
}

// The whole bias of a pass, dense: [1|B, H, Lq, Lk]. For biases that do not read content.
inline Tensor dense_bias(const ScoreBias& bias, const AttentionPass& pass) {
  return bias.tile({0, pass.q.length(), 0, pass.k.length()}, {}, {});
}

// Numbers N(0, 1) that depend on the key alone.
inline Tensor noise(at::IntArrayRef shape, uint64_t key, at::ScalarType type = at::kFloat) {
  const Tensor t = at::empty(shape, at::kFloat);
  draw_normal(t, 1.0, key);
  return t.to(type);
}

}  // namespace ordo::test
