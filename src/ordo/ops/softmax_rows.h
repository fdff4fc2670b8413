// SPDX-License-Identifier: Apache-2.0
// Cross-entropy of one row of fp32 logits, in place and vectorised: the inner loop of fused_loss on the CPU.
#pragma once
#include <cstdint>
#include <optional>

namespace ordo {

struct RowOptions {
  double smoothing = 0.0, z_loss = 0.0;
  std::optional<double> softcap = {};
  double scale = 1.0;
};

// The loss of one row of `width` logits, times scale. The logits are overwritten: by the gradient when `gradient`, else
// by nothing of use. `capped` holds `width` numbers; only with a softcap, else null.
double row_loss(float* logits, int64_t width, int64_t target, const RowOptions& options, bool gradient, float* capped);

}  // namespace ordo
