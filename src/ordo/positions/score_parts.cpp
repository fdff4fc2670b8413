// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/score_parts.h"

#include <ATen/ops/alias.h>

namespace ordo {

at::ScalarType score_type(const AttentionPass& pass) {
  return pass.x.defined() ? accumulate_type(pass.x.scalar_type()) : at::kFloat;
}

std::vector<int64_t> LayerSets::shape(std::vector<int64_t> one) const {
  if (!shared) one.insert(one.begin(), layers);
  return one;
}

Tensor LayerSets::of(const Tensor& parameter, int64_t layer) const {
  // A tensor of this call alone: the gradient of a later layer's bias must not reach it by way of an earlier layer.
  return shared ? at::alias(parameter) : parameter.select(0, layer);
}

}  // namespace ordo
