// SPDX-License-Identifier: Apache-2.0
// What became of each example whose tokens were judged: the sums of each, for intervals and for lines of a file.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ordo/tasks/task.h"

namespace ordo {

class TokenExamples {
 public:
  struct Sums {
    double nats = 0.0;  // minus the log-probabilities of its targets
    int64_t right = 0, tokens = 0;
    int64_t characters = 0, bytes = 0;  // of their text; 0: not known
    bool all_right() const { return right == tokens; }
  };
  void add(const Sums& example) { all_.push_back(example); }
  int64_t count() const { return static_cast<int64_t>(all_.size()); }
  const Sums& at(int64_t i) const { return all_[static_cast<size_t>(i)]; }

  // Intervals of the metrics that `into` has, from drawing blocks of examples: example i is in block block_of[i], which
  // starts at 0 and rises by 0 or 1. The metrics stay as they are. A loss that is no number leaves no interval.
  void add_intervals(std::span<const int64_t> block_of, Evaluation& into) const;
  // {"tokens": 511, "loss": …} and its other values among `metrics`; null where it has no target.
  Json values(int64_t i, const Metrics& metrics) const;

 private:
  std::vector<Sums> all_;
};

// Blocks of neighbours, `together` in each but the last.
std::vector<int64_t> blocks_of(int64_t examples, int64_t together);

}  // namespace ordo
