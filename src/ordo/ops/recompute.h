// SPDX-License-Identifier: Apache-2.0
// Gradient checkpointing of one segment (Chen et al. 2016), without a re-entrant backward().
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace ordo {

using Segment = std::function<at::Tensor(const at::Tensor&)>;

// run(x), keeping nothing but x: backward replays the segment under the autocast state of the forward pass.
// `reads`: every tensor that run uses and that may want a gradient (parameters, shared tables, memory), each once; what
// is forgotten there gets no gradient. The closure must own what it reads: a replay outlives the call.
at::Tensor recompute(Segment run, const at::Tensor& x, std::vector<at::Tensor> reads);

}  // namespace ordo
