// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/ranks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ordo/statistics/distributions.h"
#include "ordo/statistics/inside.h"

namespace ordo {

namespace {

// Larger is better, what is not finite last.
double merit(double value, bool larger_is_better) {
  if (!std::isfinite(value)) return -std::numeric_limits<double>::infinity();
  return larger_is_better ? value : -value;
}

// Adds the ranks of one block to `ranks`; returns Σ t³ - t over its ties of t arms.
double add_ranks(const std::vector<double>& block, bool larger_is_better, std::vector<double>& ranks) {
  std::vector<size_t> order(block.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto of = [&](size_t arm) { return merit(block[arm], larger_is_better); };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return of(a) > of(b); });
  double ties = 0.0;
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && of(order[end]) == of(order[begin])) ++end;
    const auto tied = static_cast<double>(end - begin);
    for (size_t i = begin; i < end; ++i) ranks[order[i]] += 0.5 * static_cast<double>(begin + end + 1);
    ties += tied * tied * tied - tied;
  }
  return ties;
}

}  // namespace

RankTable rank_table(std::span<const std::vector<double>> values, bool larger_is_better) {
  RankTable table{.blocks = std::ssize(values)};
  if (values.empty()) return table;
  const size_t arms = values.front().size();
  const auto k = static_cast<double>(arms), n = static_cast<double>(values.size());
  table.ranks.assign(arms, 0.0);
  double ties = 0.0;
  for (const std::vector<double>& block : values) {
    require(block.size() == arms, "statistics: each block ranks the same arms (found: {} and {})", arms, block.size());
    ties += add_ranks(block, larger_is_better, table.ranks);
  }
  double squares = 0.0;
  for (double& rank : table.ranks) {
    rank /= n;
    squares += (rank - 0.5 * (k + 1.0)) * (rank - 0.5 * (k + 1.0));
  }
  if (arms < 2) return table;
  const double untied = 1.0 - ties / (n * k * (k * k - 1.0));
  table.friedman = untied > 0.0 ? 12.0 * n / (k * (k + 1.0)) * squares / untied : 0.0;
  table.p = chi_squared_above(table.friedman, k - 1.0);
  if (table.blocks >= kRankBlocks)
    table.critical_difference = nemenyi_difference(std::ssize(values.front()), table.blocks);
  return table;
}

double nemenyi_difference(int64_t arms, int64_t blocks, double alpha) {
  require_share(alpha, "alpha");
  require(arms > 1 && blocks > 0,
          "statistics: ranks differ between two arms or more, over one block or more (found: {}, {})", arms, blocks);
  const auto k = static_cast<double>(arms);
  return normal_range_quantile(1.0 - alpha, arms) * std::sqrt(k * (k + 1.0) / (12.0 * static_cast<double>(blocks)));
}

}  // namespace ordo
