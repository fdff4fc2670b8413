// SPDX-License-Identifier: Apache-2.0
// A function of one number with one hidden layer, for many numbers at once: the hidden layer of all of them is never
// held, neither forwards nor for the way back.
#pragma once
#include <ATen/core/Tensor.h>

namespace ordo {

// b2 + w2 relu(w1 x + b1): x of any shape [...], w1 and b1 [hidden], w2 [H, hidden], b2 [H] -> [H, ...] of x's type.
// Differentiable once, in all five.
at::Tensor scalar_mlp(const at::Tensor& x, const at::Tensor& w1, const at::Tensor& b1, const at::Tensor& w2,
                      const at::Tensor& b2);

}  // namespace ordo
