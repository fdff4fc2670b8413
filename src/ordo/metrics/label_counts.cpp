// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/label_counts.h"

#include "ordo/statistics/interval.h"

namespace ordo {

std::vector<std::string> label_score_names(std::span<const std::string> labels) {
  std::vector<std::string> names{"precision_macro", "recall_macro", "f1_macro",
                                 "precision_micro", "recall_micro", "f1_micro"};
  for (const std::string& label : labels) {
    for (const char* const score : {"precision/", "recall/", "f1/"}) names.push_back(score + label);
  }
  return names;
}

std::vector<double> label_scores(std::span<const LabelCounts> labels, const std::vector<bool>& averaged) {
  double precision = 0.0, recall = 0.0, f1 = 0.0, count = 0.0;
  LabelCounts all;
  std::vector<double> each;
  for (size_t i = 0; i < labels.size(); ++i) {
    const LabelCounts& label = labels[i];
    each.insert(each.end(), {label.precision(), label.recall(), label.f1()});
    if (!averaged[i]) continue;
    precision += label.precision();
    recall += label.recall();
    f1 += label.f1();
    count += 1.0;
    all = {all.hits + label.hits, all.predicted + label.predicted, all.actual + label.actual};
  }
  std::vector<double> scores(6, kNoNumber);
  if (count > 0.0) {
    scores = {precision / count, recall / count, f1 / count, all.precision(), all.recall(), all.f1()};
  }
  scores.insert(scores.end(), each.begin(), each.end());
  return scores;
}

}  // namespace ordo
