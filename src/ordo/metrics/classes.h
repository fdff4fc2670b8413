// SPDX-License-Identifier: Apache-2.0
// Single-label classification: everything here is a function of the confusion matrix, and equal to scikit-learn's.
#pragma once
#include <optional>

#include "ordo/metrics/measure.h"

namespace ordo {

struct ClassesConfig {
  std::vector<std::string> classes;  // their names, one each; what scores of single classes are called by
  // The class that means "nothing here" (the tag outside of all entities): precision, recall and F1 average over the
  // others only. Accuracy and Matthews' coefficient see it.
  std::optional<int64_t> background = {};
};

// Values:
//   accuracy       share of examples that are right; over all classes, micro precision, recall and F1 are the same
//   matthews       Matthews' correlation coefficient (1975), for several classes Gorodkin's R_K (2004); 0 where the
//                  predictions or the truth are all one class, as nothing correlates with a constant
//   …_macro        mean over the classes that occur in truth or predictions; others say nothing and are left out
//   …_micro        from the counts of these classes added up
//   …/NAME         of one class; 0 where it is undefined, see LabelCounts
class ClassScores : public ExampleMetric {
 public:
  // Throws ConfigError when there is no class, a name is there twice, or the background is none of them.
  explicit ClassScores(ClassesConfig config);
  void add(int64_t predicted, int64_t truth);  // throws DataError for a class that is not there
  int64_t examples() const override { return static_cast<int64_t>(truth_.size()); }
  std::vector<std::string> names() const override;
  std::vector<double> values(std::span<const double> weights) const override;
  std::vector<std::string> columns() const override { return {"predicted", "truth", "right"}; }
  std::vector<double> example(int64_t i) const override;
  // [truth, predicted], row after row: how many examples of class `truth` were taken for `predicted`.
  std::vector<int64_t> confusion() const;

 private:
  ClassesConfig config_;
  std::vector<int32_t> predicted_, truth_;
};

}  // namespace ordo
