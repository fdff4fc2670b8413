// SPDX-License-Identifier: Apache-2.0
// How far answers are from the right ones: not at all (exact match), in words, or in characters.
#pragma once
#include "ordo/metrics/text_metric.h"

namespace ordo {

// The share of hypotheses that are, byte for byte, one of their references.
class ExactMatch : public TextMetric {
 public:
  ExactMatch() : TextMetric(2) {}
  std::vector<std::string> names() const override { return {"exact_match"}; }

 protected:
  std::vector<double> compare(std::string_view hypothesis, std::span<const std::string> references) const override;
  std::vector<double> scores(std::span<const double> sums) const override { return {sums[0] / sums[1]}; }
};

enum class ErrorUnit {
  words,       // split at white space
  characters,  // code points, white space at both ends left out
};

// Word and character error rate, as jiwer computes them: least insertions, deletions and substitutions (Levenshtein
// 1966) of all examples / units of all references; over 1 is possible. Of several references the one with the lowest
// rate for that example counts. Without any unit in the references the number of edits: there is nothing to divide by.
// jiwer splits words at spaces only: a single tab between two words leaves them one there.
class ErrorRate : public TextMetric {
 public:
  explicit ErrorRate(ErrorUnit unit) : TextMetric(2), unit_(unit) {}
  std::vector<std::string> names() const override { return {unit_ == ErrorUnit::words ? "wer" : "cer"}; }
  std::vector<std::string> columns() const override;
  std::vector<double> example(int64_t i) const override;

 protected:
  std::vector<double> compare(std::string_view hypothesis, std::span<const std::string> references) const override;
  std::vector<double> scores(std::span<const double> sums) const override;

 private:
  ErrorUnit unit_;
};

}  // namespace ordo
