// SPDX-License-Identifier: Apache-2.0
// Multi-label classification: each label of an example is true or not, whatever the others are. Equal to
// scikit-learn's.
#pragma once
#include "ordo/metrics/label_counts.h"
#include "ordo/metrics/ranking.h"

namespace ordo {

// Of several labels the area of each, as RankedScores has it, for those that have both positives and negatives.
// Values:
//   auc_macro   their mean, NaN if there are none (scikit-learn's is NaN as soon as one label has no area). Fed with
//               the probabilities of classes of which one is true, it is the one-against-the-rest area
//   auc/NAME    of one label
// An example alone has none, and no columns.
class LabelAreas : public ExampleMetric {
 public:
  explicit LabelAreas(std::vector<std::string> labels);  // throws ConfigError when there is no label or one twice
  // A score for each label, and the labels that are true. Throws DataError for another number of scores or a label that
  // is not there, NumericError for a score that is NaN.
  void add(std::span<const double> scores, std::span<const int64_t> actual);
  int64_t examples() const override { return ranked_.front().size(); }
  std::vector<std::string> names() const override;
  std::vector<double> values(std::span<const double> weights) const override;
  std::vector<std::vector<double>> values_together(std::span<const double> weights) const override;
  std::vector<std::string> columns() const override { return {}; }
  std::vector<double> example(int64_t) const override { return {}; }
  const std::vector<std::string>& labels() const { return labels_; }

 private:
  std::vector<std::string> labels_;
  std::vector<RankedScores> ranked_;  // by label
};

struct MultiLabelConfig {
  std::vector<std::string> labels;  // their names, one each
  double threshold = 0.5;           // a label is predicted from this score on
};

// Values:
//   subset_accuracy  share of examples all of whose labels are right
//   hamming_loss     share of all single decisions that are wrong
//   …_macro, …_micro, …/NAME   precision, recall and F1 as in LabelCounts; macro is the mean over all labels: one that
//                    neither occurs nor is predicted counts as 0
//   auc_macro, auc/NAME        those of LabelAreas
// What an example contributes: how many labels were predicted, how many are true, how many are both, and `right`: 1
// where all three numbers agree.
class MultiLabelScores : public ExampleMetric {
 public:
  explicit MultiLabelScores(MultiLabelConfig config);                         // throws as LabelAreas does
  void add(std::span<const double> scores, std::span<const int64_t> actual);  // likewise
  int64_t examples() const override { return std::ssize(decisions_); }
  std::vector<std::string> names() const override;
  std::vector<double> values(std::span<const double> weights) const override;
  std::vector<std::vector<double>> values_together(std::span<const double> weights) const override;
  std::vector<std::string> columns() const override { return {"predicted", "actual", "hits", "right"}; }
  std::vector<double> example(int64_t i) const override;

 private:
  struct Decisions {  // of an example
    std::vector<uint32_t> hits, false_alarms, misses;
    size_t predicted() const { return hits.size() + false_alarms.size(); }
    size_t actual() const { return hits.size() + misses.size(); }
    size_t wrong() const { return false_alarms.size() + misses.size(); }
  };
  std::vector<double> decided(std::span<const double> weights) const;  // all values but the areas
  double threshold_;
  LabelAreas areas_;
  std::vector<Decisions> decisions_;
};

}  // namespace ordo
