// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/claims.h"

#include <algorithm>
#include <cmath>

#include "ordo/core/text.h"
#include "ordo/statistics/modes.h"
#include "ordo/study/cells.h"
#include "ordo/study/claim_words.h"

namespace ordo {

namespace {

constexpr const char* kHolds = "holds";
constexpr const char* kFails = "fails";
constexpr const char* kUndecided = "undecided";

struct ClaimPart {
  std::string verdict, why;
};

ClaimPart undecided(const std::string& why) { return {kUndecided, why}; }

// One that fails decides, then one that is undecided.
ClaimPart combine(const std::vector<ClaimPart>& parts) {
  ClaimPart all = undecided("there is nothing to compare");
  std::vector<std::string> whys;
  for (const char* verdict : {kFails, kUndecided, kHolds}) {
    for (const auto& part : parts)
      if (part.verdict == verdict) whys.push_back(part.why);
    if (whys.empty()) continue;
    all.verdict = verdict;
    break;
  }
  if (!whys.empty()) all.why = join(whys, "; ");
  return all;
}

// ---- what is measured ----

void take_values(const std::vector<Outcome>& outcomes, Measured& measure) {
  for (const auto& outcome : outcomes) {
    measure.missing += outcome.missing ? 1 : 0;
    measure.diverged += outcome.diverged() ? 1 : 0;
    if (outcome.missing) continue;
    measure.values.push_back(outcome.value);
    measure.seeds.push_back(outcome.seed);
    measure.instances.push_back(outcome.instance);
  }
}

std::string lack_of_claim_interval(const Cell& cell) {
  if (!cell.refused.empty() && cell.n == 0) return cell.refused;
  if (cell.diverged > 0) return fmt::format("{} of {} runs diverged", cell.diverged, cell.runs);
  if (cell.two_modes) return two_groups_words();
  if (cell.n < 2) return fmt::format("{} seed{}: no interval", cell.n, cell.n == 1 ? "" : "s");
  return "no spread over the seeds and no items to judge by";
}

// A metric at both ends of a change.
struct Ends {
  std::vector<Outcome> from, to;
};
Ends ends_of(const OutcomeTable& table, Question question, const Change& change) {
  Ends ends;
  question.length = change.from;
  ends.from = table.of(question);
  question.length = change.to;
  ends.to = table.of(question);
  return ends;
}

// Value at `to` less the value at `from`, run by run.
std::vector<Outcome> changes_of(const Ends& ends, bool relative) {
  std::vector<Outcome> changes = ends.to;
  for (auto& one : changes) {
    const auto before = std::find_if(ends.from.begin(), ends.from.end(), [&](const Outcome& other) {
      return other.seed == one.seed && other.instance == one.instance;
    });
    one.missing = one.missing || before == ends.from.end() || before->missing;
    if (one.missing) continue;
    one.value -= before->value;
    if (relative) one.value /= std::abs(before->value);
  }
  return changes;
}

// Over the seeds; where they all changed alike, over the items at both lengths.
Interval interval_of_change(const Ends& ends, const std::vector<double>& units, bool relative) {
  const Interval interval = t_interval(units);
  if (interval.exists() || relative || units.size() < 2) return interval;
  return items_difference(pooled_items(ends.to), pooled_items(ends.from), ends.to.front().twins);
}

Measured measure_change(const OutcomeTable& table, const Question& question, const Change& change) {
  Measured measure;
  const Ends ends = ends_of(table, question, change);
  const auto changes = changes_of(ends, change.relative);
  take_values(changes, measure);
  std::vector<double> units, after;
  for (const auto& seed : by_seed(changes))
    if (std::isfinite(seed.value)) units.push_back(seed.value);
  for (const auto& outcome : ends.to) after.push_back(outcome.value);
  measure.mean = describe(units).mean;
  if (measure.diverged > 0)
    measure.lack = fmt::format("{} of {} runs diverged", measure.diverged, measure.values.size());
  else if (two_modes(units, change.relative ? kLeastGap : modes_gap(question.metric, after)).found)
    measure.lack = two_groups_words();
  else
    measure.interval = interval_of_change(ends, units, change.relative);
  if (measure.lack.empty() && !measure.interval.exists())
    measure.lack = units.size() < 2 ? fmt::format("{} seed{}: no interval", units.size(), units.size() == 1 ? "" : "s")
                                    : "no spread over the seeds and no items to judge by";
  return measure;
}

Measured measure_value(const Plan& plan, const OutcomeTable& table, const Question& question) {
  Measured measure;
  take_values(table.of(question), measure);
  const Cell cell = cell_of(plan, table, question);
  measure.mean = cell.mean;
  measure.interval = cell.interval;
  if (!measure.interval.exists()) measure.lack = lack_of_claim_interval(cell);
  return measure;
}

// ---- how one is judged ----

std::string missing_words(const Measured& m) {
  return m.missing > 0 ? fmt::format(" ({} missing)", m.missing == 1 ? "1 run" : fmt::format("{} runs", m.missing))
                       : "";
}

std::string values_words(const Measured& m) {
  std::vector<std::string> texts;
  for (const double value : m.values) texts.push_back(std::isfinite(value) ? decimal_text(value) : "diverged");
  return fmt::format("{} {}{}", m.level, texts.empty() ? "has no run" : join(texts, ", "), missing_words(m));
}

std::string interval_words_of(const Measured& m) {
  return fmt::format("{} {} [{}, {}]{}", m.level, decimal_text(m.mean), decimal_text(m.interval.low),
                     decimal_text(m.interval.high), missing_words(m));
}

bool meets(const ClaimConfig& claim, double value) {
  return (!claim.at_least || value >= *claim.at_least) && (!claim.at_most || value <= *claim.at_most);
}

ClaimPart bound_of_every_run(const ClaimConfig& claim, const Measured& m) {
  const bool all = std::all_of(m.values.begin(), m.values.end(),
                               [&](double value) { return std::isfinite(value) && meets(claim, value); });
  if (!all) return {kFails, values_words(m)};
  return {m.values.empty() || m.missing > 0 ? kUndecided : kHolds, values_words(m)};
}

ClaimPart bound_outside_interval(const ClaimConfig& claim, const Measured& m) {
  if (!m.interval.exists()) return undecided(fmt::format("{}: {}", m.level, m.lack));
  const Interval& i = m.interval;
  const bool inside = (!claim.at_least || i.low >= *claim.at_least) && (!claim.at_most || i.high <= *claim.at_most);
  const bool outside = (claim.at_least && i.high < *claim.at_least) || (claim.at_most && i.low > *claim.at_most);
  return {inside ? kHolds : outside ? kFails : kUndecided, interval_words_of(m)};
}

ClaimPart judge_bound(const ClaimConfig& claim, const Measured& m) {
  if (claim.rule == Rule::every_run) return bound_of_every_run(claim, m);
  if (claim.rule == Rule::intervals) return bound_outside_interval(claim, m);
  if (m.diverged > 0 || !std::isfinite(m.mean)) return undecided(fmt::format("{}: {}", m.level, m.lack));
  return {meets(claim, m.mean) ? kHolds : kFails,
          fmt::format("{} {}{}", m.level, decimal_text(m.mean), missing_words(m))};
}

// Seed by seed, instance by instance; one that diverged is worse than one that did not.
ClaimPart order_of_every_run(const Measured& better, const Measured& worse, bool larger) {
  const std::string why = fmt::format("{} against {}", values_words(better), values_words(worse));
  bool all = better.missing + worse.missing == 0 && !better.values.empty();
  for (size_t i = 0; i < better.values.size(); ++i) {
    for (size_t j = 0; j < worse.values.size(); ++j) {
      if (worse.seeds[j] != better.seeds[i] || worse.instances[j] != better.instances[i]) continue;
      const double one = better.values[i], other = worse.values[j];
      const bool ahead = std::isfinite(one) && (!std::isfinite(other) || (larger ? one > other : one < other));
      if (!ahead) return {kFails, why};
    }
  }
  return {all ? kHolds : kUndecided, why};
}

ClaimPart order_of_intervals(const Measured& better, const Measured& worse, bool larger) {
  for (const Measured* m : {&better, &worse})
    if (!m->interval.exists()) return undecided(fmt::format("{}: {}", m->level, m->lack));
  const std::string why = fmt::format("{} against {}", interval_words_of(better), interval_words_of(worse));
  const bool above = better.interval.low > worse.interval.high, below = better.interval.high < worse.interval.low;
  if (!above && !below) return undecided(why);
  return {above == larger ? kHolds : kFails, why};
}

ClaimPart judge_neighbours(const ClaimConfig& claim, const Measured& better, const Measured& worse) {
  const bool larger = larger_is_better(claim.metric);
  if (claim.rule == Rule::every_run) return order_of_every_run(better, worse, larger);
  if (claim.rule == Rule::intervals) return order_of_intervals(better, worse, larger);
  for (const Measured* m : {&better, &worse})
    if (m->diverged > 0 || !std::isfinite(m->mean)) return undecided(fmt::format("{}: {}", m->level, m->lack));
  const bool ahead = larger ? better.mean > worse.mean : better.mean < worse.mean;
  return {ahead ? kHolds : kFails,
          fmt::format("{} {}{} against {} {}{}", better.level, decimal_text(better.mean), missing_words(better),
                      worse.level, decimal_text(worse.mean), missing_words(worse))};
}

// ---- where it is asked ----

struct ClaimPlace {
  Combination where;
  std::string scaling;
};

std::vector<ClaimPlace> places_of_claim(const OutcomeTable& table, const ClaimConfig& claim) {
  const bool of_scalings = std::any_of(claim.where.levels.begin(), claim.where.levels.end(),
                                       [](const auto& one) { return one.first == kScalingFactor; });
  std::vector<ClaimPlace> places;
  for (const auto& combination : table.combinations()) {
    for (const auto& scaling : of_scalings ? table.scalings() : std::vector<std::string>{""}) {
      Combination named = combination;
      named.emplace_back(kScalingFactor, scaling.empty() ? kUnscaled : scaling);
      ClaimPlace place{without(combination, claim.factor), scaling};
      const bool known = std::any_of(places.begin(), places.end(), [&](const ClaimPlace& p) {
        return p.where == place.where && p.scaling == place.scaling;
      });
      if (!known && claim.where.holds(named)) places.push_back(std::move(place));
    }
  }
  return places;
}

std::optional<Measured> measure_level(const Plan& plan, const OutcomeTable& table, const ClaimConfig& claim,
                                      const ClaimPlace& place, const std::string& level) {
  auto question = ask(table, place.where, claim.factor, level, claim.metric);
  if (!question) return std::nullopt;
  question->length = claim.length ? *claim.length : compared_length(plan.study, table, question->levels);
  if (claim.factor != kScalingFactor) question->scaling = place.scaling;
  if (!table.has_runs(*question)) return std::nullopt;
  Measured measure =
      claim.change ? measure_change(table, *question, *claim.change) : measure_value(plan, table, *question);
  measure.level = level;
  measure.where = place.where;
  measure.scaling = question->scaling;
  return measure;
}

// Of each level of the claim what it came to; nothing: there is no run of it.
ClaimPart judge_place(const ClaimConfig& claim, const std::vector<std::optional<Measured>>& measures) {
  const auto& levels = claim.order.empty() ? claim.level : claim.order;
  std::vector<ClaimPart> parts;
  for (size_t i = 0; i < measures.size(); ++i) {
    if (!measures[i])
      parts.push_back(undecided(fmt::format("no run of {} here", levels[i])));
    else if (claim.order.empty())
      parts.push_back(judge_bound(claim, *measures[i]));
    else if (i + 1 < measures.size() && measures[i + 1])
      parts.push_back(judge_neighbours(claim, *measures[i], *measures[i + 1]));
  }
  return combine(parts);
}

ClaimVerdict judge_claim(const Plan& plan, const OutcomeTable& table, const ClaimConfig& claim) {
  ClaimVerdict verdict{.name = claim.name, .text = claim_text(claim, plan.study.compare)};
  std::vector<ClaimPart> parts;
  for (const auto& place : places_of_claim(table, claim)) {
    std::vector<std::optional<Measured>> measures;
    for (const auto& level : claim.order.empty() ? claim.level : claim.order) {
      measures.push_back(measure_level(plan, table, claim, place, level));
      if (measures.back()) verdict.measured.push_back(*measures.back());
    }
    if (std::none_of(measures.begin(), measures.end(), [](const auto& one) { return one.has_value(); })) continue;
    parts.push_back(judge_place(claim, measures));
    if (!place.where.empty()) parts.back().why = level_names(place.where) + ": " + parts.back().why;
  }
  const ClaimPart all = parts.empty() ? undecided("no run is of what it speaks of") : combine(parts);
  verdict.verdict = all.verdict;
  verdict.why = all.why;
  return verdict;
}

}  // namespace

std::vector<ClaimVerdict> claim_verdicts(const Plan& plan, const OutcomeTable& outcomes) {
  std::vector<ClaimVerdict> verdicts;
  for (const auto& claim : plan.study.claims) verdicts.push_back(judge_claim(plan, outcomes, claim));
  return verdicts;
}

}  // namespace ordo
