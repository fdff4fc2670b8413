// SPDX-License-Identifier: Apache-2.0
// RMSNorm (Zhang & Sennrich 2019): x / sqrt(mean(x^2) + eps) * weight over the last dimension.
#pragma once
#include <ATen/core/Tensor.h>

namespace ordo {

// x [..., D], weight [D] -> x's shape and type; statistics in at least fp32. One pass a row each way on the CPU,
// LibTorch's own elsewhere.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

}  // namespace ordo
