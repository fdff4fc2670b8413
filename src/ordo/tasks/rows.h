// SPDX-License-Identifier: Apache-2.0
// What generated tasks name their symbols with and draw their rows from.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ordo/core/hash.h"

namespace ordo {

inline constexpr double kMostSymbols = 10'000;  // of a task's setting

std::vector<std::string> numbered_symbols(int64_t count);  // "0", "1", …
std::vector<std::string> letters(int64_t count);           // "a", …, "z", "aa", "ab", …
std::vector<std::string> joined(std::vector<std::string> names, const std::vector<std::string>& more);

// Uniform in [0, symbols), independently of each other.
std::vector<int64_t> draw_row(KeyedSequence& draw, int64_t length, int64_t symbols);
// `count` different numbers of [0, limit), in random order; count <= limit.
std::vector<int64_t> draw_distinct(KeyedSequence& draw, int64_t count, int64_t limit);

}  // namespace ordo
