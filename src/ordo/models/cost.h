// SPDX-License-Identifier: Apache-2.0
// Arithmetic and memory of a stack, counted from its config.
#pragma once
#include "ordo/models/stack.h"

namespace ordo {

// Of one token of a stack at this length, without embedding and head.
ModelCost stack_cost(const StackConfig& config, bool causal, int64_t length);
// Of one token's cross-attention in all blocks, over a source of this length and with one token's share of its keys.
ModelCost cross_cost(const StackConfig& config, int64_t length);

}  // namespace ordo
