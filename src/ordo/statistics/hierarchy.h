// SPDX-License-Identifier: Apache-2.0
// Where the uncertainty of a mean score comes from: the seeds, the drawn instances of the task, the items of the test.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ordo/statistics/interval.h"

namespace ordo {

// The items' scores of one run.
struct ScoredRun {
  int64_t seed = 0;
  int64_t instance = 0;  // which set of examples; of no meaning where each seed draws its own
  std::vector<double> items;
};
enum class ItemsOf {
  seed,      // each seed drew its own test items
  instance,  // item i is the same in all runs of an instance: one fixed set, or N of them crossed with the seeds
};
// Balanced: as many items in each run, each (seed, instance) once, and with ItemsOf::instance every seed with every
// instance. `twins` neighbouring items belong together and are averaged first.
struct Hierarchy {
  std::vector<ScoredRun> runs;
  int64_t twins = 1;
  ItemsOf items_of = ItemsOf::seed;
};

// What each source adds to the variance of the overall mean, as shares that add up to 1 (all 0 when nothing varies).
// Components by the expected mean squares of the analysis of variance (Searle, Casella and McCulloch 1992, ch. 4),
// negative ones taken as 0.
//   ItemsOf::seed: items nested in seeds. With S seeds of K items: σ²(seed) / S, σ²(item) / (S K).
//   ItemsOf::instance: seeds × items nested in I instances: σ²(seed) / S, σ²(instance) / I, σ²(item) / (I K); `rest` is
//     what seeds do to single instances, σ²(seed·instance) / (S I), and to single items, σ²(seed·item) / (S I K).
// A component that cannot be told from another counts to the wider one: with one item a run to the seed or instance,
// with one instance to the seed. NaN: not balanced, a score that is not finite, or fewer than two seeds.
struct VarianceShares {
  double seed = kNoNumber;
  double instance = kNoNumber, item = kNoNumber, rest = kNoNumber;
  double variance = kNoNumber;  // of the overall mean, the sum of all
};
VarianceShares variance_shares(const Hierarchy& data);

struct HierarchicalBootstrap {
  double mean = kNoNumber;
  Interval interval;  // percentile; kind "hierarchical"; none where nothing varies or variance_shares is NaN
  double standard_error = kNoNumber;
  VarianceShares shares;
};
// Draws seeds with replacement, then items within each drawn seed; or, crossed, seeds, instances, and the items of each
// drawn instance, the same for all seeds (Owen 2007, the pigeonhole bootstrap). From a fixed key. Of 0.95 it covers
// 0.84 with 3 seeds, 0.89 with 5 and 0.94 with 10 where the seeds decide, and 0.98 where items of each seed's own do:
// their part is drawn twice, in the seeds' means and within them.
HierarchicalBootstrap hierarchical_bootstrap(const Hierarchy& data, double level = 0.95, int64_t draws = 4000);

}  // namespace ordo
