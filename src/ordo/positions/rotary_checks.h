// SPDX-License-Identifier: Apache-2.0
// What the encodings of the rotary family ask of a model. Each throws ConfigError with the kind before its message.
#pragma once
#include "ordo/positions/encoding.h"

namespace ordo {

// Turns compare positions of one sequence; those of two say nothing about each other.
void refuse_across(std::string_view kind, const PositionFacts& facts);
// The whole head turns: its channels in groups of so many.
void require_groups(std::string_view kind, const PositionFacts& facts, int64_t channels);

}  // namespace ordo
