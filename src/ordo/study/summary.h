// SPDX-License-Identifier: Apache-2.0
// The answer of a study with its uncertainty: cells, pairs, claims, cost.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ordo/core/json.h"
#include "ordo/statistics/hierarchy.h"
#include "ordo/statistics/interval.h"
#include "ordo/statistics/ranks.h"
#include "ordo/study/results.h"

namespace ordo {

// One metric of one combination at one length, over the seeds. A run that diverged, or whose metric is not a finite
// number, has no value: it counts in `diverged` and as unsolved.
struct Cell {
  Combination levels;
  std::string scaling, split, metric;
  int64_t length = 0;          // 0: the area under the curve over the lengths
  std::vector<double> values;  // by seed (and instance), in the order of the plan
  std::vector<int64_t> seeds;  // of each value
  int64_t n = 0;  // seeds with a value: what mean, sd and interval are over; instances of a seed are averaged first
  double mean = 0.0, sd = 0.0;
  Interval interval;             // of the mean over seeds; kind "exact" where every seed gave the same and items decide
  bool two_modes = false;        // some seeds learned and some did not: no interval of a mean is honest
  int64_t solved = 0, runs = 0;  // runs whose value reaches compare.solved; compare.metric only
  Interval solved_interval;      // exact
  int64_t diverged = 0, missing = 0;
  // With diverged runs counted as 0; nothing: none diverged, or smaller is better (a diverged loss has no bound).
  std::optional<double> mean_with_diverged = {};
  std::string refused;  // why there is no value
};
// a - b, paired by seed (and instance).
struct Pair {
  std::string a, b;  // level names of compare.factor
  Combination where;
  std::string metric;
  int64_t length = 0;
  int64_t n = 0;                         // seeds that both have
  std::vector<int64_t> seeds = {};       // they
  std::vector<double> differences = {};  // of each of those
  double difference = 0.0, sd = 0.0, effect = 0.0;
  Interval interval;
  int64_t wins = 0;  // seeds in which a is the better one
  double p = 1.0, p_adjusted = 1.0, p_smallest = 1.0;
  std::string verdict;  // better | worse | separated | not told apart
  std::string why;
  std::string lack = {};      // why the difference has no interval; empty: it has one
  double seeds_needed = 0.0;  // for a difference as large as the one found, at 80 % power; 0: cannot be said
};
// What one level of a claim came to: the metric, or its change.
struct Measured {
  std::string level;
  Combination where;  // of the other factors
  std::string scaling;
  std::vector<double> values;  // of each run; NaN: diverged
  std::vector<int64_t> seeds;  // of each value
  std::vector<std::optional<int64_t>> instances;
  double mean = 0.0;
  Interval interval;
  int64_t missing = 0, diverged = 0;
  std::string lack;  // why there is no interval
};
struct ClaimVerdict {
  std::string name, text, verdict;  // holds | fails | undecided
  std::string why;                  // with the numbers
  std::vector<Measured> measured;
};
struct Cost {  // means over the runs of a combination that were trained; memory and parameters: of the largest
  Combination levels;
  double seconds = 0.0, tokens_per_second = 0.0, peak_memory = 0.0, flops = 0.0;
  int64_t parameters = 0;
};
struct LengthCurve {  // of one combination and scaling
  Combination levels;
  std::string scaling, metric;
  std::vector<int64_t> lengths;
  std::vector<Cell> cells;
  double area = 0.0;                          // mean over the lengths, trapezes in log2 of the length
  std::optional<int64_t> first_failing = {};  // the first length below compare.solved (above it, for losses)
};
// The levels of compare.factor over blocks: a seed of a combination of the other factors. From 10 blocks on.
struct LevelRanks {
  std::string metric;
  std::vector<std::string> levels;  // of table.ranks
  RankTable table;
};
// How much of the uncertainty of a cell's mean comes from where.
struct SourceShares {
  Combination levels;
  std::string scaling, metric;
  int64_t length = 0;
  VarianceShares shares;
};
// What was equal between the arms of one seed (an instance, a combination of the other factors), by checksums. A group
// has two runs or more.
struct PairingProof {
  int64_t groups = 0, weights_equal = 0;  // whose first weights are known; of those, equal wherever they are shared
  int64_t orders = 0, order_equal = 0;    // whose order of the data is known; of those, equal
  std::vector<std::pair<std::string, int64_t>> unpaired;  // arm, parameters that not all arms have in that shape
  std::vector<std::string> exceptions;                    // which runs differ, in words
};
struct Trial {
  Combination arm;
  std::string trial;           // "train.optimizer.lr=0.001"
  std::vector<double> values;  // of tune.metric by seed
  int64_t failed = 0;          // runs without a value
  double mean = 0.0;
  bool chosen = false;
};
struct Summary {
  std::string study, headline;  // headline: the answer in one sentence
  bool complete = false;
  int64_t runs = 0;                  // planned
  std::vector<std::string> failed;   // runs, with why
  std::vector<std::string> missing;  // runs
  int64_t family = 0;                // pairs that were corrected for together
  std::vector<Cell> cells;
  std::vector<Pair> pairs;
  std::vector<ClaimVerdict> claims;
  std::vector<LengthCurve> curves;
  std::optional<LevelRanks> ranks = {};
  std::vector<SourceShares> variance;
  PairingProof pairing;
  std::vector<Trial> tune;
  std::vector<Reference> references;  // never tested or ranked
  std::vector<LeftOut> left_out;
  std::vector<Cost> cost;
  std::vector<std::string>
      notes;  // how to read it: "3 seeds: p cannot fall below 0.25", what the intervals do not cover
};
Summary summarise(const Plan& plan, const Results& results);
// Keys in a fixed order; what depends on the machine (seconds, rates, memory) stands under "cost" only.
Json summary_json(const Summary& summary);

}  // namespace ordo
