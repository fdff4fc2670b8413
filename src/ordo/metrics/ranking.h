// SPDX-License-Identifier: Apache-2.0
// The area under the ROC curve: the chance that a positive example is scored above a negative one, ties counting half
// (Hanley and McNeil 1982; Mann and Whitney's U / (P N)), equal to scikit-learn's. Without positives or without
// negatives there is no such pair: NaN.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ordo/metrics/measure.h"

namespace ordo {

class RankedScores {
 public:
  void add(double score, bool positive);  // throws NumericError for NaN
  int64_t size() const { return static_cast<int64_t>(scores_.size()); }
  double area(std::span<const double> weights) const;
  // Of several weightings: weights [size, kTogether], row after row.
  std::array<double, ExampleMetric::kTogether> areas(std::span<const double> weights) const;
  // Of a positive the share of negatives scored below it, of a negative the share of positives scored above it, ties
  // counting half: the mean over either kind is the area (DeLong, DeLong and Clarke-Pearson 1988). NaN without others.
  double placement(int64_t i) const;
  double score(int64_t i) const { return scores_.at(static_cast<size_t>(i)); }
  bool positive(int64_t i) const { return positive_.at(static_cast<size_t>(i)); }

 private:
  struct Tie {
    size_t begin = 0, end = 0;  // in order_
  };
  void sort() const;
  void part() const;
  template <size_t N>
  std::array<double, N> areas_of(std::span<const double> weights) const;
  std::vector<double> scores_;
  std::vector<bool> positive_;
  // Made when first asked for: the examples from the lowest score to the highest, and where in it those of one score
  // stand that have a positive among them; and the scores of either kind, sorted.
  mutable std::vector<uint32_t> order_;
  mutable std::vector<Tie> with_positives_;
  mutable std::vector<double> of_positives_, of_negatives_;
};

class RocArea : public ExampleMetric {
 public:
  void add(double score, bool positive) { ranked_.add(score, positive); }
  int64_t examples() const override { return ranked_.size(); }
  std::vector<std::string> names() const override { return {"auc"}; }
  std::vector<double> values(std::span<const double> weights) const override { return {ranked_.area(weights)}; }
  std::vector<std::vector<double>> values_together(std::span<const double> weights) const override;
  std::vector<std::string> columns() const override { return {"score", "positive", "auc_placement"}; }
  std::vector<double> example(int64_t i) const override;

 private:
  RankedScores ranked_;
};

}  // namespace ordo
