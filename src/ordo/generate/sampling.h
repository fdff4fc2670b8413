// SPDX-License-Identifier: Apache-2.0
// From the logits of one row to a token. Each filter sets what it excludes to minus infinity and leaves the rest as it
// is.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ordo/generate/generate.h"
#include "ordo/generate/processors.h"

namespace ordo {

// The k largest; of equal ones those with the lower ids.
void keep_top_k(std::span<double> logits, int64_t k);
// The fewest likeliest tokens whose probabilities sum to at least p (Holtzman et al. 2020); of equal ones those with
// the lower ids.
void keep_top_p(std::span<double> logits, double p);
// Those with at least `share` of the likeliest token's probability.
void keep_min_p(std::span<double> logits, double share);

std::vector<double> softmax(std::span<const double> logits);
int64_t likeliest(std::span<const double> logits);  // of equal ones the lowest id
// The token at `unit` in [0, 1) of the cumulated probabilities, in the order of ids; never one of probability 0.
int64_t token_at(std::span<const double> probabilities, double unit);

// Processors in their order: repetition penalty; then greedy, or temperature, top-k, top-p, min-p and a draw at `unit`.
// Throws NumericError when a logit is NaN or all are minus infinity.
int64_t choose_token(std::vector<double> logits, std::span<const int64_t> seen, const GenerateConfig& config,
                     double unit);

// Which draw it is: each has numbers of its own under a seed.
struct DrawPlace {
  int64_t prompt = 0, sample = 0, step = 0;
};
// What the settings allow of the next token (restrict_choice), and one of that. Nothing: they leave none. `logits` of
// the ids that may be written (usable_ids).
std::optional<int64_t> next_token(std::span<const double> logits, const RowSoFar& row, const DrawPlace& draw,
                                  const GenerateConfig& config);

}  // namespace ordo
