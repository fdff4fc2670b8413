// SPDX-License-Identifier: Apache-2.0
// How near two tensors are. Tolerances have names; a failure prints the worst place, both values and the relative
// error.
#pragma once
#include <ATen/core/Tensor.h>

#include <string>

#include "support/catch.h"

namespace ordo::test {

struct Tolerance {
  double absolute, relative;  // passes when |a - b| <= absolute + relative * |b|
  static const Tolerance exact, fp64, fp32, fp32_sum, bf16, fp16;
};

// The outcome of a comparison, printed by Catch2 when it fails.
struct Closeness {
  bool near;
  std::string why;
  explicit operator bool() const { return near; }
};
std::ostream& operator<<(std::ostream& out, const Closeness& c);

Closeness close(const at::Tensor& a, const at::Tensor& b, Tolerance tolerance);
// Gradients: compared against the larger of the tensor's own largest value and `model_scale` (1e-3 of the model's
// largest gradient), since some gradients are zero by theory and their relative error is noise (a key bias without
// rotation).
Closeness close_gradient(const at::Tensor& a, const at::Tensor& b, double relative, double model_scale = 0.0);
bool same_bytes(const at::Tensor& a, const at::Tensor& b);  // dtype, shape and every bit

}  // namespace ordo::test
