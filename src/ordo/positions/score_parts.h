// SPDX-License-Identifier: Apache-2.0
// What learned score biases share: parameters for all layers or for each, and the type that scores are held in.
#pragma once
#include "ordo/positions/encoding.h"

namespace ordo {

// The type of a call's scores: fp32, or fp64 for fp64 input.
at::ScalarType score_type(const AttentionPass& pass);

// Parameters that all layers share, or of which each layer has its own along a first axis.
struct LayerSets {
  bool shared = true;
  int64_t layers = 0;
  std::vector<int64_t> shape(std::vector<int64_t> one) const;  // one -> one, or [layers, one]
  Tensor of(const Tensor& parameter, int64_t layer) const;     // that layer's own
};

}  // namespace ordo
