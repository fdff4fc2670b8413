// SPDX-License-Identifier: Apache-2.0
// What a next token may not be: excluded ids get minus infinity, the rest stays as it is. Shared by greedy choice,
// draws and beams.
#pragma once
#include <cstdint>
#include <limits>
#include <span>

#include "ordo/generate/generate.h"

namespace ordo {

inline constexpr double kExcluded = -std::numeric_limits<double>::infinity();

// Where a row stands when its next token is chosen.
struct RowSoFar {
  std::span<const int64_t> text = {};    // prompt and new tokens
  int64_t fresh = 0;                     // how many of them are new
  std::span<const int64_t> prefix = {};  // forced first new tokens
};

// Logits of tokens seen before (in the prompt or since), each once: divided by `penalty` when positive, multiplied when
// negative (Keskar et al. 2019).
void penalise_repetition(std::span<double> logits, std::span<const int64_t> seen, double penalty);
// Tokens that would make the last n tokens ones that stand in `text` already (Paulus et al. 2018); n = 0: none.
void forbid_repeated_ngrams(std::span<double> scores, std::span<const int64_t> text, int64_t n);
// All but one.
void force_token(std::span<double> scores, int64_t id);

// The settings in their order: repeated n-grams, stop ids before min_new_tokens; where a first token is forced, that
// alone is left, whatever they say.
void restrict_choice(std::span<double> scores, const RowSoFar& row, const GenerateConfig& config);
bool nothing_left(std::span<const double> scores);

// The ids that may be chosen at all: those of the tokenizer, where a model has room to spare.
int64_t usable_ids(int64_t vocab_size, const GenerateConfig& config);
// Throws NumericError when a logit is NaN, or none is finite.
void require_usable(std::span<const double> logits);

}  // namespace ordo
