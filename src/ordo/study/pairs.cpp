// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/pairs.h"

#include <algorithm>
#include <cmath>

#include "ordo/statistics/bootstrap.h"
#include "ordo/statistics/modes.h"
#include "ordo/statistics/paired.h"
#include "ordo/statistics/permutation.h"
#include "ordo/study/cells.h"
#include "ordo/study/verdicts.h"

namespace ordo {

namespace {

const Outcome* partner(const Outcome& one, const std::vector<Outcome>& others) {
  for (const auto& other : others)
    if (!other.missing && other.seed == one.seed && other.instance == one.instance) return &other;
  return nullptr;
}

ComparedArms arms_of(const std::vector<Outcome>& a, const std::vector<Outcome>& b, const std::string& metric) {
  ComparedArms arms;
  for (const auto& one : a) {
    if (one.missing) continue;
    const Outcome* other = partner(one, b);
    if (other == nullptr) {
      ++arms.without_partner;
      continue;
    }
    arms.a.push_back(one);
    arms.b.push_back(*other);
    arms.diverged_a += one.diverged() ? 1 : 0;
    arms.diverged_b += other->diverged() ? 1 : 0;
  }
  for (const auto& one : b) arms.without_partner += !one.missing && partner(one, a) == nullptr ? 1 : 0;
  for (const auto& seed : by_seed(arms.a)) {
    arms.seeds.push_back(seed.seed);
    arms.of_a.push_back(seed.value);
  }
  for (const auto& seed : by_seed(arms.b)) arms.of_b.push_back(seed.value);
  arms.two_modes_a = arms.diverged_a == 0 && two_modes(arms.of_a, modes_gap(metric, arms.of_a)).found;
  arms.two_modes_b = arms.diverged_b == 0 && two_modes(arms.of_b, modes_gap(metric, arms.of_b)).found;
  return arms;
}

// Diverged runs in the last rank: a value beyond all others.
void rank_diverged_last(std::vector<double>& a, std::vector<double>& b, bool larger_is_better) {
  double worst = 0.0;
  for (const double value : a) worst = std::isfinite(value) ? std::max(worst, std::abs(value)) : worst;
  for (const double value : b) worst = std::isfinite(value) ? std::max(worst, std::abs(value)) : worst;
  const double last = larger_is_better ? -worst - 1.0 : worst + 1.0;
  for (auto* values : {&a, &b})
    for (double& value : *values) value = std::isfinite(value) ? value : last;
}

// Over the items' differences; none where the metric has no items.
Interval hierarchical_interval(const ComparedArms& arms) {
  std::vector<Outcome> differences = arms.a;
  for (size_t run = 0; run < differences.size(); ++run) {
    auto& items = differences[run].items;
    const auto& others = arms.b[run].items;
    if (items.empty() || items.size() != others.size()) return {};
    for (size_t i = 0; i < items.size(); ++i) items[i] -= others[i];
  }
  return hierarchical_bootstrap(hierarchy_of(std::move(differences))).interval;
}

// Below kBootstrapSeeds a bootstrap covers too little. Without any spread over the seeds the items decide.
Interval interval_of_pair(const ComparedArms& arms, const Paired& paired, const StudyConfig& study) {
  if (!arms.mean_is_honest() || paired.n < 2) return {};
  if (study.compare.interval == IntervalKind::hierarchical && paired.n >= kBootstrapSeeds)
    if (const Interval interval = hierarchical_interval(arms); interval.exists()) return interval;
  if (paired.sd > 0.0) return paired.interval;
  return items_difference(pooled_items(arms.a), pooled_items(arms.b), arms.a.front().twins);
}

Compared compare(const StudyConfig& study, const OutcomeTable& table, const Question& a, const Question& b) {
  Compared made{.pair = {.metric = a.metric, .length = a.length}, .arms = arms_of(table.of(a), table.of(b), a.metric)};
  Pair& pair = made.pair;
  const ComparedArms& arms = made.arms;
  const bool larger = larger_is_better(a.metric);
  pair.seeds = arms.seeds;
  pair.n = static_cast<int64_t>(arms.seeds.size());
  pair.difference = pair.sd = pair.effect = kNoNumber;
  pair.p_smallest = smallest_sign_flip_p(pair.n);
  if (pair.n == 0) return made;
  for (size_t i = 0; i < arms.seeds.size(); ++i) pair.differences.push_back(arms.of_a[i] - arms.of_b[i]);

  auto ranked_a = arms.of_a, ranked_b = arms.of_b;
  rank_diverged_last(ranked_a, ranked_b, larger);
  made.apart = separated(ranked_a, ranked_b);
  pair.wins = compare_paired(ranked_a, ranked_b, {.larger_is_better = larger}).wins;

  const Paired paired = compare_paired(arms.of_a, arms.of_b, {.larger_is_better = larger});
  pair.difference = paired.difference;
  pair.sd = paired.sd;
  pair.effect = paired.effect;
  pair.p = paired.p;
  pair.interval = interval_of_pair(arms, paired, study);
  return made;
}

std::vector<std::pair<std::string, std::string>> level_pairs(const StudyConfig& study, const OutcomeTable& table) {
  const auto levels = levels_with_runs(table, study.compare.factor);
  std::vector<std::pair<std::string, std::string>> pairs;
  if (study.compare.against != "all") {
    for (const auto& level : levels)
      if (level != study.compare.against) pairs.emplace_back(level, study.compare.against);
    return pairs;
  }
  for (size_t i = 0; i < levels.size(); ++i)
    for (size_t j = i + 1; j < levels.size(); ++j) pairs.emplace_back(levels[i], levels[j]);
  return pairs;
}

// What to ask for a level of the compared factor; nothing where the study leaves that combination out.
std::optional<Question> compared_question(const StudyConfig& study, const OutcomeTable& table, const Combination& where,
                                          const std::string& level) {
  auto question = ask(table, where, study.compare.factor, level, study.compare.metric);
  if (question) question->length = compared_length(study, table, question->levels);
  return question;
}

}  // namespace

std::vector<Pair> compared_pairs(const Plan& plan, const OutcomeTable& table) {
  const CompareConfig& compare_by = plan.study.compare;
  if (compare_by.factor.empty()) return {};
  std::vector<Compared> all;
  for (const auto& where : places_of(table, compare_by.factor)) {
    for (const auto& [a, b] : level_pairs(plan.study, table)) {
      const auto of_a = compared_question(plan.study, table, where, a);
      const auto of_b = compared_question(plan.study, table, where, b);
      if (!of_a || !of_b || !table.has_runs(*of_a) || !table.has_runs(*of_b)) continue;
      Compared made = compare(plan.study, table, *of_a, *of_b);
      made.pair.a = a;
      made.pair.b = b;
      made.pair.where = where;
      all.push_back(std::move(made));
    }
  }
  judge_together(compare_by, all);
  std::vector<Pair> pairs;
  for (auto& one : all) pairs.push_back(std::move(one.pair));
  return pairs;
}

std::optional<LevelRanks> level_ranks(const Plan& plan, const OutcomeTable& table) {
  const CompareConfig& compare_by = plan.study.compare;
  if (compare_by.factor.empty()) return std::nullopt;
  const auto levels = levels_with_runs(table, compare_by.factor);
  std::vector<std::vector<double>> blocks;
  for (const auto& where : places_of(table, compare_by.factor)) {
    std::vector<std::vector<SeedValue>> columns;
    for (const auto& level : levels)
      if (const auto question = compared_question(plan.study, table, where, level))
        columns.push_back(by_seed(table.of(*question)));
    if (columns.size() < levels.size()) continue;
    for (const auto& [seed, value] : columns.front()) {
      std::vector<double> block;
      for (const auto& column : columns)
        for (const auto& one : column)
          if (one.seed == seed) block.push_back(one.value);
      if (block.size() == levels.size()) blocks.push_back(std::move(block));
    }
  }
  if (static_cast<int64_t>(blocks.size()) < kRankBlocks || levels.size() < 2) return std::nullopt;
  return LevelRanks{compare_by.metric, levels, rank_table(blocks, larger_is_better(compare_by.metric))};
}

}  // namespace ordo
