// SPDX-License-Identifier: Apache-2.0
// What a vocabulary lacks.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ordo/data/tokenizer.h"

namespace ordo {

// The id that stands for all of it; nothing: the tokenizer has none.
std::optional<int64_t> unknown_id(const Tokenizer& tokenizer);
// "; 3.1 % of the tokens stand for unknown words", for the end of a line; "" when there are none.
std::string unknown_share(int64_t unknown, int64_t tokens);
// Warns of an input with ids that stand for what the vocabulary lacks: "input 3: 1 of 2 tokens stands for …".
void warn_of_unknown(const Tokenizer& tokenizer, std::span<const int64_t> ids, const std::string& where);

}  // namespace ordo
