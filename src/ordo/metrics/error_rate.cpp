// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/error_rate.h"

#include <algorithm>

#include "ordo/core/utf8.h"
#include "ordo/metrics/words.h"

namespace ordo {

std::vector<double> ExactMatch::compare(std::string_view hypothesis, std::span<const std::string> references) const {
  const bool right = std::find(references.begin(), references.end(), hypothesis) != references.end();
  return {right ? 1.0 : 0.0, 1.0};
}

std::vector<double> ErrorRate::compare(std::string_view hypothesis, std::span<const std::string> references) const {
  WordNumbers numbers;
  const auto units = [&](std::string_view text) {
    return unit_ == ErrorUnit::words ? numbers(split_words(text)) : code_points(stripped(text));
  };
  const std::u32string text = units(hypothesis);
  std::vector<double> best;
  for (const std::string& reference : references) {
    const std::u32string wanted = units(reference);
    std::vector<double> row{static_cast<double>(levenshtein(text, wanted)), static_cast<double>(wanted.size())};
    if (best.empty() || scores(row).front() < scores(best).front()) best = std::move(row);
  }
  return best;
}

std::vector<double> ErrorRate::scores(std::span<const double> sums) const { return {sums[0] / std::max(sums[1], 1.0)}; }

std::vector<std::string> ErrorRate::columns() const {
  const bool words = unit_ == ErrorUnit::words;
  return {words ? "wer" : "cer", words ? "word_edits" : "character_edits",
          words ? "reference_words" : "reference_characters"};
}

std::vector<double> ErrorRate::example(int64_t i) const {
  const std::span<const double> sums = row(i);
  return {scores(sums).front(), sums[0], sums[1]};
}

}  // namespace ordo
