// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/corrections.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ordo {

namespace {

double p_or_one(double p) { return std::isnan(p) ? 1.0 : p; }

// Places of the p-values, the smallest first.
std::vector<size_t> upwards(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p_or_one(p[a]) < p_or_one(p[b]); });
  return order;
}

}  // namespace

std::vector<double> holm(std::span<const double> p) {
  const std::vector<size_t> order = upwards(p);
  std::vector<double> adjusted(p.size());
  double largest = 0.0;
  for (size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, static_cast<double>(p.size() - i) * p_or_one(p[order[i]]));
    adjusted[order[i]] = std::min(largest, 1.0);
  }
  return adjusted;
}

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  const std::vector<size_t> order = upwards(p);
  std::vector<double> adjusted(p.size());
  double smallest = 1.0;
  for (size_t i = order.size(); i-- > 0;) {
    smallest = std::min(smallest, static_cast<double>(p.size()) / static_cast<double>(i + 1) * p_or_one(p[order[i]]));
    adjusted[order[i]] = smallest;
  }
  return adjusted;
}

}  // namespace ordo
