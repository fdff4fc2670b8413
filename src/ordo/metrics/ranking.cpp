// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/ranking.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ordo/core/errors.h"

namespace ordo {

namespace {

// The share of sorted values below x, those equal to it counting half.
double share_below(const std::vector<double>& sorted, double x) {
  if (sorted.empty()) return kNoNumber;
  const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), x);
  const auto below = static_cast<double>(first - sorted.begin()), equal = static_cast<double>(last - first);
  return (below + 0.5 * equal) / static_cast<double>(sorted.size());
}

}  // namespace

void RankedScores::add(double score, bool positive) {
  require<NumericError>(!std::isnan(score), "metrics: the score of example {} is no number and cannot be ranked",
                        size() + 1);
  scores_.push_back(score);
  positive_.push_back(positive);
}

void RankedScores::sort() const {
  if (order_.size() == scores_.size()) return;
  order_.resize(scores_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  std::sort(order_.begin(), order_.end(), [this](uint32_t a, uint32_t b) { return scores_[a] < scores_[b]; });
  of_positives_.clear();
  of_negatives_.clear();
  for (const uint32_t i : order_) (positive_[i] ? of_positives_ : of_negatives_).push_back(scores_[i]);
}

double RankedScores::area(std::span<const double> weights) const {
  sort();
  double pairs = 0.0, positives = 0.0, negatives = 0.0;  // negatives: those scored below
  for (size_t first = 0, last = 0; first < order_.size(); first = last) {
    double tied_positives = 0.0, tied_negatives = 0.0;
    for (; last < order_.size() && scores_[order_[last]] == scores_[order_[first]]; ++last) {
      (positive_[order_[last]] ? tied_positives : tied_negatives) += weights[order_[last]];
    }
    pairs += tied_positives * (negatives + 0.5 * tied_negatives);
    positives += tied_positives;
    negatives += tied_negatives;
  }
  return positives > 0.0 && negatives > 0.0 ? pairs / (positives * negatives) : kNoNumber;
}

double RankedScores::placement(int64_t i) const {
  sort();
  return positive(i) ? share_below(of_negatives_, score(i)) : 1.0 - share_below(of_positives_, score(i));
}

std::vector<double> RocArea::example(int64_t i) const {
  return {ranked_.score(i), ranked_.positive(i) ? 1.0 : 0.0, ranked_.placement(i)};
}

}  // namespace ordo
