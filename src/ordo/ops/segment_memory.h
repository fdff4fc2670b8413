// SPDX-License-Identifier: Apache-2.0
// What a segment of a long text goes on from: the hidden states of the tokens before it (Transformer-XL, Dai et al.
// 2019).
#pragma once
#include <vector>

#include "ordo/ops/sequence.h"

namespace ordo {

struct SegmentMemory {
  std::vector<Tensor> hidden;  // what each block read: [B, M, D], without gradient; empty: nothing stands before
};

}  // namespace ordo
