// SPDX-License-Identifier: Apache-2.0
// Offsets between the tokens of a call, counted as key - query, and what has none.
#pragma once
#include <string_view>
#include <utility>

#include "ordo/positions/encoding.h"

namespace ordo {

// Throws ConfigError for real-valued positions, naming the encoding and what to use instead of it.
void refuse_coords(const Positions& at, std::string_view kind, std::string_view instead = "sinusoidal or rope");
void refuse_coords(const AttentionPass& pass, std::string_view kind, std::string_view instead = "sinusoidal or rope");

// The offsets that a call can meet: [low, high]. Reads the positions, unless they are consecutive.
std::pair<int64_t, int64_t> offset_range(const Positions& q, const Positions& k);
// All of them in order, between consecutive positions: int64 [Lq+Lk-1].
Tensor offsets_of_call(const Positions& q, const Positions& k);

}  // namespace ordo
