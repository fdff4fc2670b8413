// SPDX-License-Identifier: Apache-2.0
// How well one could answer a task by always saying the same.
#pragma once
#include <algorithm>
#include <cmath>
#include <map>

#include "ordo/tasks/drawn_task.h"

namespace ordo::test {

// The share of the most frequent answer among `count` examples of a task that asks for labels; for others, of
// the last answer.
inline double share_of_favourite(const DrawnTask& task, int64_t size, uint64_t count) {
  std::map<int64_t, double> times;
  for (uint64_t i = 0; i < count; ++i) ++times[task.held_out(11, i, size).asked.back()];
  double most = 0.0;
  for (const auto& [label, seen] : times) most = std::max(most, seen);
  return most / static_cast<double>(count);
}

// What that share stays below when all of `labels` answers are equally likely: four standard deviations.
inline double share_by_chance(double labels, uint64_t count) {
  const double p = 1.0 / labels;
  return p + 4.0 * std::sqrt(p * (1.0 - p) / static_cast<double>(count));
}

}  // namespace ordo::test
