// SPDX-License-Identifier: Apache-2.0
// The fast path of `tiled` on the CPU: one head at a time, a strip of rows against its visible keys, BLAS products into
// one reused buffer and one vectorised pass between them. Heads are spread over threads; results do not depend on their
// number.
#pragma once
#include <optional>

#include "ordo/attention/kernel.h"

namespace ordo {

// out [B, H, Lq, E] in q's type, stored as [B, Lq, H, E]. Nothing when the call is not of the kind this path knows: no
// value term, no softcap; a bias over keys or offsets alone; visible keys that form a run (row_spans.h).
std::optional<Tensor> attend_on_cpu(const AttentionCall& call);

}  // namespace ordo
