// SPDX-License-Identifier: Apache-2.0
// Multi-label classification: each label of an example is true or not, whatever the others are. Equal to
// scikit-learn's.
#pragma once
#include "ordo/metrics/label_counts.h"
#include "ordo/metrics/ranking.h"

namespace ordo {

struct MultiLabelConfig {
  std::vector<std::string> labels;  // their names, one each
  double threshold = 0.5;           // a label is predicted from this score on
};

// Values:
//   subset_accuracy  share of examples all of whose labels are right
//   hamming_loss     share of all single decisions that are wrong
//   …_macro, …_micro, …/NAME   precision, recall and F1 as in LabelCounts; macro is the mean over all labels: one that
//                    neither occurs nor is predicted counts as 0
//   auc_macro        mean over the labels that have both positives and negatives of RankedScores' area, NaN if none
//   has.
//                    (scikit-learn's is NaN as soon as one has not.) Fed with the probabilities of classes of which one
//                    is true, it is the one-against-the-rest area.
//   auc/NAME         of one label
// What an example contributes: how many labels were predicted, how many are true, how many are both, and `right`: 1
// where all three numbers agree.
class MultiLabelScores : public ExampleMetric {
 public:
  explicit MultiLabelScores(MultiLabelConfig config);  // throws ConfigError when there is no label or one twice
  // A score for each label, and the labels that are true. Throws DataError for another number of scores or a label that
  // is not there, NumericError for a score that is NaN.
  void add(std::span<const double> scores, std::span<const int64_t> actual);
  int64_t examples() const override { return examples_; }
  std::vector<std::string> names() const override;
  std::vector<double> values(std::span<const double> weights) const override;
  std::vector<std::string> columns() const override { return {"predicted", "actual", "hits", "right"}; }
  std::vector<double> example(int64_t i) const override;

 private:
  struct Decisions {
    double hits = 0.0, predicted = 0.0, actual = 0.0;
    bool right() const { return hits == predicted && hits == actual; }
    double wrong() const { return predicted + actual - 2.0 * hits; }
  };
  Decisions decisions(int64_t i) const;
  MultiLabelConfig config_;
  int64_t examples_ = 0;
  std::vector<RankedScores> labels_;
};

}  // namespace ordo
