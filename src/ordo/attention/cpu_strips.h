// SPDX-License-Identifier: Apache-2.0
// The fast path of `tiled` on the CPU (cpu_pass.h): which calls it takes, and their gradients.
#pragma once
#include <optional>

#include "ordo/attention/kernel.h"

namespace ordo {

// out [B, H, Lq, E] in q's type, stored as [B, Lq, H, E]. Nothing when the call is not of the kind this path knows: no
// softcap; a bias over keys, over offsets, or of content by tables over offsets (ContentForm); a value term by a table
// over offsets; visible keys that form a run (row_spans.h).
std::optional<Tensor> attend_on_cpu(const AttentionCall& call);

}  // namespace ordo
