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
  with_positives_.clear();
  for (size_t begin = 0, end = 0; begin < order_.size(); begin = end) {
    bool any = false;
    for (; end < order_.size() && scores_[order_[end]] == scores_[order_[begin]]; ++end)
      any = any || positive_[order_[end]];
    if (any) with_positives_.push_back({begin, end});
  }
}

void RankedScores::part() const {
  if (of_positives_.size() + of_negatives_.size() == scores_.size()) return;
  sort();
  of_positives_.clear();
  of_negatives_.clear();
  for (const uint32_t i : order_) (positive_[i] ? of_positives_ : of_negatives_).push_back(scores_[i]);
}

// One pass from the lowest score to the highest; where only negatives stand, which are most of a rare class, their
// weights are added up and nothing else.
template <size_t N>
std::array<double, N> RankedScores::areas_of(std::span<const double> weights) const {
  using Sums = std::array<double, N>;
  sort();
  const auto add = [&](size_t at, Sums& to) {
    const double* const row = weights.data() + size_t{order_[at]} * N;
    for (size_t one = 0; one < N; ++one) to[one] += row[one];
  };
  Sums pairs{}, positives{}, below{};  // below: of the negatives passed
  size_t at = 0;
  for (const Tie& tie : with_positives_) {
    for (; at < tie.begin; ++at) add(at, below);
    Sums tied_positives{}, tied_negatives{};
    for (; at < tie.end; ++at) add(at, positive_[order_[at]] ? tied_positives : tied_negatives);
    for (size_t one = 0; one < N; ++one) {
      pairs[one] += tied_positives[one] * (below[one] + 0.5 * tied_negatives[one]);
      positives[one] += tied_positives[one];
      below[one] += tied_negatives[one];
    }
  }
  for (; at < order_.size(); ++at) add(at, below);
  Sums made{};
  for (size_t one = 0; one < N; ++one)
    made[one] = positives[one] > 0.0 && below[one] > 0.0 ? pairs[one] / (positives[one] * below[one]) : kNoNumber;
  return made;
}

double RankedScores::area(std::span<const double> weights) const { return areas_of<1>(weights).front(); }

std::array<double, ExampleMetric::kTogether> RankedScores::areas(std::span<const double> weights) const {
  return areas_of<ExampleMetric::kTogether>(weights);
}

double RankedScores::placement(int64_t i) const {
  part();
  return positive(i) ? share_below(of_negatives_, score(i)) : 1.0 - share_below(of_positives_, score(i));
}

std::vector<std::vector<double>> RocArea::values_together(std::span<const double> weights) const {
  std::vector<std::vector<double>> all;
  for (const double area : ranked_.areas(weights)) all.push_back({area});
  return all;
}

std::vector<double> RocArea::example(int64_t i) const {
  return {ranked_.score(i), ranked_.positive(i) ? 1.0 : 0.0, ranked_.placement(i)};
}

}  // namespace ordo
