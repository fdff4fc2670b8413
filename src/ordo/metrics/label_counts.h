// SPDX-License-Identifier: Apache-2.0
// Precision, recall and F1 of labels, from counts: what single-label and multi-label classification share.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ordo {

struct LabelCounts {
  double hits = 0.0;       // predicted where they are true
  double predicted = 0.0;  // hits and false alarms
  double actual = 0.0;     // hits and misses
  // hits / predicted; 0 for a label that was never predicted.
  double precision() const { return predicted > 0.0 ? hits / predicted : 0.0; }
  // hits / actual; 0 for a label that is never true.
  double recall() const { return actual > 0.0 ? hits / actual : 0.0; }
  // 2 hits / (predicted + actual), the harmonic mean of both (van Rijsbergen 1979); 0 for a label that is neither.
  double f1() const { return predicted + actual > 0.0 ? 2.0 * hits / (predicted + actual) : 0.0; }
};

// "precision_macro", "recall_macro", "f1_macro", the same micro, then "precision/NAME", "recall/NAME", "f1/NAME" of
// each label.
std::vector<std::string> label_score_names(std::span<const std::string> labels);
// In that order. Macro: the mean over the labels that `averaged` marks, NaN if it marks none; micro: of their counts
// added up.
std::vector<double> label_scores(std::span<const LabelCounts> labels, const std::vector<bool>& averaged);

}  // namespace ordo
