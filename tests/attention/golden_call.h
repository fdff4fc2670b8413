// SPDX-License-Identifier: Apache-2.0
// One attention call of an encoding whose queries, keys and values are given, as other implementations state theirs.
#pragma once
#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>

#include "ordo/attention/kernel.h"
#include "support/goldens.h"
#include "support/positions.h"

namespace ordo::test {

struct GoldenCall {
  Tensor q, k, v;  // [B, H, Lq, E], [B, G, Lk, E], not turned
  Mask mask = {};
  Tensor kept = {};
  double scale = 0.0;  // 0: 1 / sqrt(E)
};

struct GoldenOutcome {
  Tensor scores, weights, out;  // scores of hidden keys are whatever the encoding says
};

inline GoldenOutcome run_golden(PositionEncoding& encoding, const GoldenCall& c, const std::string& kernel = "eager") {
  const double scale = c.scale > 0.0 ? c.scale : 1.0 / std::sqrt(static_cast<double>(c.q.size(3)));
  const Positions all = consecutive(0, c.k.size(2), at::kCPU), last = all.slice(c.k.size(2) - c.q.size(2), c.k.size(2));
  const AttentionPass pass{.q = last, .k = all, .scale = scale, .kept = c.kept, .mask = c.mask};
  const Tensor q = encoding.query(c.q, last, 0), k = encoding.key(c.k, all, 0);
  const bool weights = kernel == "eager";
  const AttentionCall call{.q = q,
                           .k = k,
                           .v = c.v,
                           .mask = c.mask,
                           .bias = encoding.scores(pass),
                           .value_term = encoding.values(pass),
                           .scale = scale,
                           .want_weights = weights};
  const Attended result = kernels().build(kernel, {})->run(call);
  const Tensor keys = repeat_groups(k, q.size(1));
  const Tensor products = at::matmul(q, keys.transpose(2, 3)) * scale;
  return {products + call.bias->tile({0, q.size(2), 0, k.size(2)}, q, keys), result.weights, result.out};
}

// [B, H, L, E] -> [B, L, H E]
inline Tensor joined_heads(const Tensor& x) { return x.transpose(1, 2).flatten(2); }

// Parameter `name` of an encoding := value, of the same number of elements.
inline void set_parameter(PositionEncoding& encoding, const std::string& name, const Tensor& value) {
  const at::NoGradGuard plain;
  Tensor parameter = encoding.named_parameters()[name];
  parameter.copy_(value.reshape(parameter.sizes()));
}

}  // namespace ordo::test
