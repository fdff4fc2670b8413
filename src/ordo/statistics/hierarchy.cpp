// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/hierarchy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "ordo/core/hash.h"
#include "ordo/statistics/bootstrap.h"
#include "ordo/statistics/inside.h"

namespace ordo {

namespace {

// Balanced scores, [seeds, instances, groups of twins]. Items of each seed's own: one instance.
struct Scores {
  size_t seeds = 0, instances = 1, groups = 0;
  std::vector<double> values;
  double at(size_t seed, size_t instance, size_t group) const {
    return values[(seed * instances + instance) * groups + group];
  }
};

std::vector<double> group_means(const std::vector<double>& items, int64_t twins) {
  const auto together = static_cast<size_t>(twins);
  std::vector<double> means(items.size() / together, 0.0);
  for (size_t i = 0; i < items.size(); ++i) means[i / together] += items[i] / static_cast<double>(twins);
  return means;
}

// Nothing where the runs are not balanced (see Hierarchy) or hold what is no number.
std::optional<Scores> balanced_scores(const Hierarchy& data) {
  if (data.runs.empty() || data.twins < 1) return {};
  const size_t items = data.runs.front().items.size();
  if (items == 0 || items % static_cast<size_t>(data.twins) != 0) return {};
  std::map<std::pair<int64_t, int64_t>, const ScoredRun*> runs;  // by seed and instance
  std::set<int64_t> seeds, instances;
  for (const ScoredRun& run : data.runs) {
    if (run.items.size() != items || !all_finite(run.items)) return {};
    runs.emplace(std::pair(run.seed, run.instance), &run);
    seeds.insert(run.seed);
    instances.insert(run.instance);
  }
  Scores scores{.seeds = seeds.size(),
                .instances = data.items_of == ItemsOf::instance ? instances.size() : 1,
                .groups = items / static_cast<size_t>(data.twins)};
  // No place twice, and as many as there are: each once.
  if (runs.size() != data.runs.size() || runs.size() != scores.seeds * scores.instances || scores.seeds < 2) return {};
  for (const auto& [place, run] : runs) {
    const std::vector<double> means = group_means(run->items, data.twins);
    scores.values.insert(scores.values.end(), means.begin(), means.end());
  }
  return scores;
}

// Sums over one or more of the dimensions, as means.
struct Margins {
  double all = 0.0;
  std::vector<double> seed, instance, run, item;  // [S], [I], [S, I], [I, K]
  explicit Margins(const Scores& y)
      : seed(y.seeds), instance(y.instances), run(y.seeds * y.instances), item(y.instances * y.groups) {
    const auto S = static_cast<double>(y.seeds), I = static_cast<double>(y.instances),
               K = static_cast<double>(y.groups);
    for (size_t s = 0; s < y.seeds; ++s)
      for (size_t i = 0; i < y.instances; ++i)
        for (size_t k = 0; k < y.groups; ++k) {
          const double value = y.at(s, i, k);
          all += value / (S * I * K);
          seed[s] += value / (I * K);
          instance[i] += value / (S * K);
          run[s * y.instances + i] += value / K;
          item[i * y.groups + k] += value / S;
        }
  }
};

double squared(double x) { return x * x; }

// A sum of squares over its degrees of freedom; 0 without any.
double mean_square(double squares, double degrees) { return degrees > 0.0 ? squares / degrees : 0.0; }

VarianceShares as_shares(VarianceShares parts) {
  parts.variance = parts.seed + parts.instance + parts.item + parts.rest;
  for (double* part : {&parts.seed, &parts.instance, &parts.item, &parts.rest})
    *part = parts.variance > 0.0 ? *part / parts.variance : 0.0;
  return parts;
}

VarianceShares nested_shares(const Scores& y) {
  const Margins mean(y);
  const auto S = static_cast<double>(y.seeds), K = static_cast<double>(y.groups);
  double between = 0.0, within = 0.0;
  for (size_t s = 0; s < y.seeds; ++s) {
    between += squared(mean.seed[s] - mean.all);
    for (size_t k = 0; k < y.groups; ++k) within += squared(y.at(s, 0, k) - mean.seed[s]);
  }
  const double item = mean_square(within, S * (K - 1.0));
  const double seed = std::max(0.0, (K * mean_square(between, S - 1.0) - item) / K);
  return as_shares({.seed = seed / S, .instance = 0.0, .item = item / (S * K), .rest = 0.0});
}

VarianceShares crossed_shares(const Scores& y) {
  const Margins mean(y);
  const auto S = static_cast<double>(y.seeds), I = static_cast<double>(y.instances), K = static_cast<double>(y.groups);
  double of_seed = 0.0, of_instance = 0.0, of_run = 0.0, of_item = 0.0, of_answer = 0.0;  // sums of squares
  for (size_t s = 0; s < y.seeds; ++s) of_seed += I * K * squared(mean.seed[s] - mean.all);
  for (size_t i = 0; i < y.instances; ++i) {
    of_instance += S * K * squared(mean.instance[i] - mean.all);
    for (size_t k = 0; k < y.groups; ++k) of_item += S * squared(mean.item[i * y.groups + k] - mean.instance[i]);
    for (size_t s = 0; s < y.seeds; ++s) {
      const double run = mean.run[s * y.instances + i];
      of_run += K * squared(run - mean.seed[s] - mean.instance[i] + mean.all);
      for (size_t k = 0; k < y.groups; ++k)
        of_answer += squared(y.at(s, i, k) - run - mean.item[i * y.groups + k] + mean.instance[i]);
    }
  }
  const double answer = mean_square(of_answer, I * (S - 1.0) * (K - 1.0));
  const double item = mean_square(of_item, I * (K - 1.0));
  const double run = I > 1.0 ? mean_square(of_run, (S - 1.0) * (I - 1.0)) : answer;
  const double instance = mean_square(of_instance, I - 1.0);
  const auto positive = [](double component) { return std::max(0.0, component); };
  return as_shares({.seed = positive(mean_square(of_seed, S - 1.0) - run) / (S * I * K),
                    .instance = I > 1.0 ? positive(instance - run - item + answer) / (S * I * K) : 0.0,
                    .item = positive(item - answer) / (S * I * K),
                    .rest = (positive(run - answer) + answer) / (S * I * K)});
}

VarianceShares shares_of(const Scores& scores, ItemsOf items_of) {
  return items_of == ItemsOf::seed ? nested_shares(scores) : crossed_shares(scores);
}

double drawn_nested_mean(const Scores& y, KeyedSequence& sequence) {
  double sum = 0.0;
  for (size_t s = 0; s < y.seeds; ++s) {
    const size_t seed = sequence.below(y.seeds);
    for (size_t k = 0; k < y.groups; ++k) sum += y.at(seed, 0, sequence.below(y.groups));
  }
  return sum / static_cast<double>(y.seeds * y.groups);
}

double drawn_crossed_mean(const Scores& y, KeyedSequence& sequence) {
  std::vector<size_t> seeds(y.seeds);
  for (size_t& seed : seeds) seed = sequence.below(y.seeds);
  double sum = 0.0;
  for (size_t i = 0; i < y.instances; ++i) {
    const size_t instance = sequence.below(y.instances);
    for (size_t k = 0; k < y.groups; ++k) {
      const size_t group = sequence.below(y.groups);
      for (const size_t seed : seeds) sum += y.at(seed, instance, group);
    }
  }
  return sum / static_cast<double>(y.seeds * y.instances * y.groups);
}

}  // namespace

VarianceShares variance_shares(const Hierarchy& data) {
  const std::optional<Scores> scores = balanced_scores(data);
  return scores ? shares_of(*scores, data.items_of) : VarianceShares{};
}

HierarchicalBootstrap hierarchical_bootstrap(const Hierarchy& data, double level, int64_t draws) {
  require_share(level, "the level of an interval");
  require(draws > 0, "statistics: a bootstrap takes one draw or more (found: {})", draws);
  const std::optional<Scores> scores = balanced_scores(data);
  if (!scores) return {.interval = {.level = level}};
  HierarchicalBootstrap found{.mean = Margins(*scores).all, .interval = {.level = level}};
  found.shares = shares_of(*scores, data.items_of);
  if (!(describe(scores->values).sd > 0.0)) return found;
  KeyedSequence sequence(key_of(0, "hierarchical bootstrap"));
  std::vector<double> means(static_cast<size_t>(draws));
  for (double& mean : means)
    mean =
        data.items_of == ItemsOf::seed ? drawn_nested_mean(*scores, sequence) : drawn_crossed_mean(*scores, sequence);
  Resampled drawn = resampled(std::move(means), "hierarchical", level);
  found.interval = std::move(drawn.interval);
  found.standard_error = drawn.standard_error;
  return found;
}

}  // namespace ordo
