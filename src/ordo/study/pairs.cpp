// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/pairs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ordo/core/text.h"
#include "ordo/statistics/corrections.h"
#include "ordo/statistics/modes.h"
#include "ordo/statistics/paired.h"
#include "ordo/statistics/permutation.h"
#include "ordo/statistics/power.h"
#include "ordo/study/cells.h"

namespace ordo {

namespace {

// Two arms of a pair, on the seeds that both have.
struct Arms {
  std::vector<Outcome> a, b;       // all outcomes that have a partner
  std::vector<double> of_a, of_b;  // a value a seed; NaN: diverged
  std::vector<int64_t> seeds;
  int64_t diverged_a = 0, diverged_b = 0, without_partner = 0;
  bool two_modes_a = false, two_modes_b = false;
  bool mean_is_honest() const { return diverged_a + diverged_b == 0 && !two_modes_a && !two_modes_b; }
};

const Outcome* partner(const Outcome& one, const std::vector<Outcome>& others) {
  for (const auto& other : others)
    if (!other.missing && other.seed == one.seed && other.instance == one.instance) return &other;
  return nullptr;
}

Arms arms_of(const std::vector<Outcome>& a, const std::vector<Outcome>& b, const std::string& metric) {
  Arms arms;
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
Interval hierarchical_interval(const Arms& arms) {
  std::vector<Outcome> differences = arms.a;
  for (size_t run = 0; run < differences.size(); ++run) {
    auto& items = differences[run].items;
    const auto& others = arms.b[run].items;
    if (items.empty() || items.size() != others.size()) return {};
    for (size_t i = 0; i < items.size(); ++i) items[i] -= others[i];
  }
  return hierarchical_bootstrap(hierarchy_of(std::move(differences))).interval;
}

// Without any spread over the seeds the items decide.
Interval interval_of_pair(const Arms& arms, const Paired& paired, const StudyConfig& study) {
  if (!arms.mean_is_honest() || paired.n < 2) return {};
  if (study.compare.interval == IntervalKind::hierarchical)
    if (const Interval interval = hierarchical_interval(arms); interval.exists()) return interval;
  if (paired.sd > 0.0) return paired.interval;
  return items_difference(pooled_items(arms.a), pooled_items(arms.b), arms.a.front().twins);
}

struct Compared {
  Pair pair;
  Arms arms;
  bool apart = false;  // every seed of one beyond every seed of the other
};

Compared compare(const Plan& plan, const OutcomeTable& table, const Question& a, const Question& b) {
  const StudyConfig& study = plan.study;
  Compared made{.pair = {.metric = a.metric, .length = a.length}, .arms = arms_of(table.of(a), table.of(b), a.metric)};
  Pair& pair = made.pair;
  const Arms& arms = made.arms;
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

// Smallest corrected p that the seeds allow at all: Holm multiplies the first by their number; Benjamini and Hochberg
// leave it when all are as small.
double smallest_corrected(const Pair& pair, Correction correction, size_t family) {
  return correction == Correction::holm ? std::min(1.0, pair.p_smallest * static_cast<double>(family))
                                        : pair.p_smallest;
}

bool lies_beyond(const Interval& interval, double smallest) {
  return interval.exists() && (interval.low > smallest || interval.high < -smallest);
}

std::string interval_words(const Interval& interval) {
  return fmt::format("[{}, {}]", decimal_text(interval.low), decimal_text(interval.high));
}

std::string times_run(int64_t n) { return n == 1 ? "1 run" : fmt::format("{} runs", n); }

// Why no interval of the mean difference is given; empty when there is one.
std::string lack_of_interval(const Pair& pair, const Arms& arms) {
  if (pair.n == 0) return fmt::format("{} and {} have no seed in common", pair.a, pair.b);
  if (arms.diverged_a + arms.diverged_b > 0) {
    std::vector<std::string> parts;
    if (arms.diverged_a > 0) parts.push_back(fmt::format("{} of {}", times_run(arms.diverged_a), pair.a));
    if (arms.diverged_b > 0) parts.push_back(fmt::format("{} of {}", times_run(arms.diverged_b), pair.b));
    return fmt::format("{} diverged: a mean without {} would flatter", join(parts, " and "),
                       arms.diverged_a + arms.diverged_b == 1 ? "it" : "them");
  }
  if (arms.two_modes_a || arms.two_modes_b)
    return fmt::format("some seeds of {} learned and some did not: no interval of the mean is honest",
                       arms.two_modes_a ? pair.a : pair.b);
  if (pair.n == 1) return "1 seed: no interval and no test";
  if (!pair.interval.exists()) return "the differences have no spread and there are no items to judge by";
  return "";
}

const char* correction_words(Correction correction) {
  switch (correction) {
    case Correction::holm:
      return "Holm-corrected ";
    case Correction::benjamini_hochberg:
      return "Benjamini-Hochberg-corrected ";
    case Correction::none:
      break;
  }
  return "";
}

std::string reach_words(const Interval& interval, double smallest) {
  if (interval.contains(0.0) || smallest == 0.0)
    return fmt::format("the 95 % interval of the difference {} contains 0", interval_words(interval));
  return fmt::format("the 95 % interval of the difference {} reaches below the smallest difference that matters ({})",
                     interval_words(interval), number_text(smallest));
}

void judge(const StudyConfig& study, size_t family, Compared& compared) {
  Pair& pair = compared.pair;
  const CompareConfig& asked = study.compare;
  const std::string lack = lack_of_interval(pair, compared.arms);
  const bool beyond = lies_beyond(pair.interval, asked.smallest_difference);
  const double least = smallest_corrected(pair, asked.correction, family);
  const bool larger = larger_is_better(pair.metric);
  const std::string p_words = fmt::format("{}p {:.3g}", correction_words(asked.correction), pair.p_adjusted);
  const auto ahead = [&](bool a) -> const std::string& { return a ? pair.a : pair.b; };

  if (lack.empty() && names_winner(pair.p_adjusted, pair.interval, asked.smallest_difference)) {
    pair.verdict = (pair.difference > 0.0) == larger ? kBetter : kWorse;
    pair.why = fmt::format("{}, 95 % interval of the difference {}", p_words, interval_words(pair.interval));
  } else if (compared.apart && (beyond || !lack.empty())) {
    pair.verdict = kSeparated;
    const bool a = pair.wins > 0;
    pair.why = fmt::format("every seed of {} is better than every seed of {}", ahead(a), ahead(!a));
    pair.why += !lack.empty() ? "; " + lack
                              : fmt::format("; {} seeds: {}p cannot fall below {:.3g}", pair.n,
                                            correction_words(asked.correction), least);
  } else {
    pair.verdict = kNotToldApart;
    if (!lack.empty())
      pair.why = lack;
    else if (!beyond)
      pair.why = reach_words(pair.interval, asked.smallest_difference);
    else if (least >= kAlpha)
      pair.why = fmt::format("{} seeds: {}p cannot fall below {:.3g}, and their values overlap", pair.n,
                             correction_words(asked.correction), least);
    else
      pair.why = fmt::format("{} is not below {}", p_words, number_text(kAlpha));
    if (compared.apart && pair.n > 0)
      pair.why = fmt::format("every seed of {} is better than every seed of {}, but {}", ahead(pair.wins > 0),
                             ahead(pair.wins == 0), pair.why);
  }
  if (compared.arms.without_partner > 0 && pair.n > 0)
    pair.why +=
        fmt::format("; paired by the {} that both have, {} left out",
                    pair.n == 1 ? "1 seed" : fmt::format("{} seeds", pair.n), times_run(compared.arms.without_partner));
}

void correct(const CompareConfig& compare, std::vector<Compared>& all) {
  std::vector<double> p;
  for (const auto& one : all) p.push_back(one.pair.p);
  const auto adjusted = compare.correction == Correction::holm                 ? holm(p)
                        : compare.correction == Correction::benjamini_hochberg ? benjamini_hochberg(p)
                                                                               : p;
  for (size_t i = 0; i < all.size(); ++i) all[i].pair.p_adjusted = adjusted[i];
}

// The sign-flip test may ask for more seeds than the spread does.
double needed(const Pair& pair, const CompareConfig& compare, size_t family) {
  const auto tests = static_cast<int64_t>(compare.correction == Correction::holm ? family : 1);
  const auto by_power = seeds_needed(pair.difference, pair.sd, 0.8, kAlpha / static_cast<double>(tests));
  if (!by_power) return 0.0;
  return static_cast<double>(std::max(*by_power, repetitions_to_pass(tests)));
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

std::vector<std::string> levels_with_runs(const OutcomeTable& table, std::string_view factor) {
  std::vector<std::string> levels;
  if (factor == kScalingFactor) {
    for (const auto& scaling : table.scalings()) levels.push_back(scaling.empty() ? std::string(kUnscaled) : scaling);
    return levels;
  }
  for (const auto& combination : table.combinations()) {
    const std::string level = level_of(combination, factor);
    if (!level.empty() && std::find(levels.begin(), levels.end(), level) == levels.end()) levels.push_back(level);
  }
  return levels;
}

std::vector<Combination> places_of(const OutcomeTable& table, std::string_view factor) {
  std::vector<Combination> places;
  for (const auto& combination : table.combinations()) {
    const Combination place = without(combination, factor);
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
  }
  return places;
}

std::optional<Question> ask(const OutcomeTable& table, const Combination& where, std::string_view factor,
                            const std::string& level, const std::string& metric) {
  const bool scaling = factor == kScalingFactor;
  for (const auto& combination : table.combinations()) {
    if (without(combination, factor) != where || (!scaling && level_of(combination, factor) != level)) continue;
    return Question{combination, scaling && level != kUnscaled ? level : "", metric};
  }
  return std::nullopt;
}

bool a_is_ahead(const Pair& pair) { return pair.verdict == kBetter || (pair.verdict == kSeparated && pair.wins > 0); }

std::vector<Pair> compared_pairs(const Plan& plan, const OutcomeTable& table) {
  const CompareConfig& compare_by = plan.study.compare;
  if (compare_by.factor.empty()) return {};
  std::vector<Compared> all;
  for (const auto& where : places_of(table, compare_by.factor)) {
    for (const auto& [a, b] : level_pairs(plan.study, table)) {
      const auto of_a = compared_question(plan.study, table, where, a);
      const auto of_b = compared_question(plan.study, table, where, b);
      if (!of_a || !of_b) continue;
      Compared made = compare(plan, table, *of_a, *of_b);
      made.pair.a = a;
      made.pair.b = b;
      made.pair.where = where;
      all.push_back(std::move(made));
    }
  }
  correct(compare_by, all);
  std::vector<Pair> pairs;
  for (auto& one : all) {
    judge(plan.study, all.size(), one);
    one.pair.seeds_needed = needed(one.pair, compare_by, all.size());
    pairs.push_back(std::move(one.pair));
  }
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
