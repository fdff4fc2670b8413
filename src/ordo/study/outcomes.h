// SPDX-License-Identifier: Apache-2.0
// The results of a study as a table that can be asked: what did each seed of a combination give?
#pragma once
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ordo/statistics/hierarchy.h"
#include "ordo/statistics/interval.h"
#include "ordo/study/results.h"

namespace ordo {

// What is asked for: a metric of one combination at one length; 0: the area under the curve over all lengths, the mean
// of the metric by trapezes in log2 of the length.
struct Question {
  Combination levels;
  std::string scaling, metric;
  int64_t length = 0;
};
struct Outcome {
  int64_t seed = 0;
  std::optional<int64_t> instance = {};
  bool missing = false;       // not run, failed, refused, or without this metric
  double value = kNoNumber;   // NaN also where the run diverged or the metric is not finite
  std::vector<double> items;  // what each held-out example counts in the metric; empty: it is not a mean over examples
  int64_t twins = 1;
  bool own_items = true;  // drawn for this seed; else those of its instance, the same for all seeds
  bool diverged() const { return !missing && !std::isfinite(value); }
};
// The values of one seed, its instances averaged; NaN when one of them has none.
struct SeedValue {
  int64_t seed = 0;
  double value = kNoNumber;
};

class OutcomeTable {
 public:
  OutcomeTable(const Plan& plan, const Results& results);
  const std::vector<Combination>& combinations() const { return combinations_; }  // in the order of the plan
  const std::vector<std::string>& scalings() const { return scalings_; }          // "" first
  const std::vector<std::string>& metrics() const { return metrics_; }  // the compared one first, then as people read

  int64_t first_length(const Combination& levels) const;             // that its runs are evaluated at
  std::vector<int64_t> lengths_of(const Combination& levels) const;  // all of them, ascending

  std::vector<Outcome> of(const Question& question) const;  // in the order of the plan
  std::string refused(const Question& question) const;      // why there is no value; empty: nobody refused
  bool has_runs(const Question& question) const;            // planned ones: it is evaluated so
  bool has_metric(const Question& question) const;          // in any run
  std::string split(const Combination& levels) const;       // that was evaluated

 private:
  using Rows = std::vector<const ResultRow*>;
  using Key = std::tuple<Combination, std::string, int64_t>;  // levels, scaling, length
  const Rows& rows(const Combination& levels, const std::string& scaling, int64_t length) const;
  std::vector<Outcome> at_length(const Question& question) const;
  std::vector<Outcome> areas(const Question& question) const;

  std::map<Key, Rows> rows_;
  std::vector<Combination> combinations_;
  std::vector<std::string> scalings_, metrics_;
  std::map<Combination, std::vector<int64_t>> lengths_;  // as planned
  std::map<Combination, bool> seeds_draw_;               // each seed has its own test items
};

// OutcomeTable without missing ones, a value a seed in the order of their first appearance.
std::vector<SeedValue> by_seed(const std::vector<Outcome>& outcomes);

// Items of all runs, one run's after the other's; those that runs share once, as their mean. Empty when one has none.
std::vector<double> pooled_items(const std::vector<Outcome>& outcomes);

// The items of runs whose values are finite, as the statistics layer takes them apart.
Hierarchy hierarchy_of(std::vector<Outcome> outcomes);

Combination without(Combination levels, std::string_view factor);

// Names of the levels of a factor that has runs, in the order of the plan; of `scaling`, "none" first.
std::vector<std::string> levels_with_runs(const OutcomeTable& table, std::string_view factor);

// What to ask for a level of a factor, the other factors as in `where`; the length is left to be set. Nothing when the
// study has no such combination.
std::optional<Question> ask(const OutcomeTable& table, const Combination& where, std::string_view factor,
                            const std::string& level, const std::string& metric);

// The combinations of the other factors.
std::vector<Combination> places_of(const OutcomeTable& table, std::string_view factor);

std::string level_names(const Combination& levels);  // "rope, copy"; "all runs" where nothing varies

}  // namespace ordo
