// SPDX-License-Identifier: Apache-2.0
// A claim as a sentence, and words that claims share with what is said of cells and pairs.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "ordo/study/study.h"

namespace ordo {

// "accuracy at length 16: none at most 0.5, in every run". What it does not say is as in `compare`.
std::string claim_text(const ClaimConfig& claim, const CompareConfig& compare);

// "at length 16", "over all lengths" (area), "at the first length" (nothing).
std::string length_words(std::optional<int64_t> length, bool area);

// Why a mean is not told: "the seeds of rope fall into two groups: …"; of nothing: "the seeds fall into …".
std::string two_groups_words(const std::string& of = "");

}  // namespace ordo
