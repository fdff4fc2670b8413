// SPDX-License-Identifier: Apache-2.0
// Arithmetic and memory of a stack, counted from its config.
#pragma once
#include "ordo/models/stack.h"

namespace ordo {

// Of one token of a stack at this length, without embedding and head; `before`: hidden states of so many tokens stand
// before the row (segment recurrence), whose keys and values are made anew.
ModelCost stack_cost(const StackConfig& config, bool causal, int64_t length, int64_t before = 0);
// Of one token's cross-attention in all blocks, over a source of this length and with one token's share of its keys.
ModelCost cross_cost(const StackConfig& config, int64_t length);

}  // namespace ordo
