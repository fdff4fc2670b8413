// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/tree_lengths.h"

#include "ordo/core/errors.h"

namespace ordo {

namespace {

using LengthShares = std::vector<double>;  // [length]

// Of two parts side by side.
LengthShares side_by_side(const LengthShares& a, const LengthShares& b) {
  LengthShares sum(a.size(), 0.0);
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; a[i] > 0.0 && i + j < a.size(); ++j) sum[i + j] += a[i] * b[j];
  return sum;
}

// An index in proportion to its weight; at least one weight is positive.
int64_t draw_weighted(KeyedSequence& draw, const std::vector<double>& weights) {
  double total = 0.0;
  for (const double weight : weights) total += weight;
  ORDO_ASSERT(total > 0.0);
  double rest = draw.unit() * total;
  int64_t found = -1;
  for (size_t i = 0; i < weights.size() && rest >= 0.0; ++i) {
    if (weights[i] > 0.0) found = static_cast<int64_t>(i);  // rounding may leave a rest behind the last one
    rest -= weights[i];
  }
  return found;
}

}  // namespace

TreeLengths::TreeLengths(const Grammar& grammar, int64_t longest) : grammar_(grammar), longest_(longest) {
  const auto sizes = static_cast<size_t>(longest + 1);
  const double each_count = grammar.operators / static_cast<double>(grammar.most_arguments - 1);
  for (int64_t height = 0; height < grammar.depth; ++height) {
    LengthShares one(sizes, 0.0), none(sizes, 0.0);
    none[0] = 1.0;
    one[1] = height == 0 ? 1.0 : 1.0 - grammar.operators;
    for (int64_t count = 2; height > 0 && count <= grammar.most_arguments; ++count)
      for (int64_t length = 2; length <= longest; ++length)
        one[static_cast<size_t>(length)] += each_count * at(height - 1, count, length - 2);
    auto& sums = sums_.emplace_back(std::vector<LengthShares>{none, one});
    const bool has_parent = height + 1 < grammar.depth;
    for (int64_t count = 2; has_parent && count <= grammar.most_arguments; ++count)
      sums.push_back(side_by_side(sums[1], sums.back()));
  }
}

int64_t TreeLengths::draw_arguments(KeyedSequence& draw, int64_t height, int64_t length) const {
  std::vector<double> weights(static_cast<size_t>(grammar_.most_arguments + 1), 0.0);
  for (int64_t count = 2; count <= grammar_.most_arguments; ++count)
    weights[static_cast<size_t>(count)] = at(height - 1, count, length - 2);
  return draw_weighted(draw, weights);
}

int64_t TreeLengths::draw_first(KeyedSequence& draw, int64_t height, int64_t count, int64_t length) const {
  std::vector<double> weights(static_cast<size_t>(length + 1), 0.0);
  for (int64_t first = 1; first <= length; ++first)
    weights[static_cast<size_t>(first)] = at(height, 1, first) * at(height, count - 1, length - first);
  return draw_weighted(draw, weights);
}

}  // namespace ordo
