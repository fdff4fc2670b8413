// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/outcomes.h"

#include <algorithm>
#include <set>

#include "ordo/core/text.h"
#include "ordo/train/evaluate.h"

namespace ordo {

namespace {

// What each example counts in a metric that is a mean over examples.
std::vector<double> items_in(const ResultRow& row, const std::string& metric) {
  if (metric == "accuracy") return row.item_accuracy;
  if (metric != "exact_match") return {};
  std::vector<double> whole;
  for (const double share : row.item_accuracy) whole.push_back(share >= 1.0 ? 1.0 : 0.0);
  return whole;
}

Outcome outcome_of(const ResultRow& row, const std::string& metric) {
  Outcome outcome{.seed = row.seed, .instance = row.instance, .twins = row.twins};
  if (row.status == RunStatus::diverged) return outcome;
  const auto found = row.metrics.find(metric);
  outcome.missing = row.status != RunStatus::done || found == row.metrics.end();
  if (!outcome.missing && std::isfinite(found->second)) {
    outcome.value = found->second;
    outcome.items = items_in(row, metric);
  }
  return outcome;
}

// Real data is the same for every seed unless its task splits it anew. Of runs that name an instance, see at_length.
bool draws_own_items(const StudyConfig& study, const PlannedRun& run) {
  if (study.instances != Instances::per_seed) return false;
  return run.config.task.kind.empty() || tasks().build(run.config.task, {.seed = run.config.seed()})->draws_examples();
}

template <class T>
void add_once(std::vector<T>& list, const T& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

// The mean of a piecewise linear curve over log2 of the length.
double trapezes(const std::vector<int64_t>& lengths, const std::vector<double>& values) {
  double area = 0.0;
  for (size_t i = 1; i < lengths.size(); ++i)
    area += std::log2(static_cast<double>(lengths[i]) / static_cast<double>(lengths[i - 1])) *
            (values[i] + values[i - 1]) / 2.0;
  return area / std::log2(static_cast<double>(lengths.back()) / static_cast<double>(lengths.front()));
}

}  // namespace

OutcomeTable::OutcomeTable(const Plan& plan, const Results& results) {
  scalings_.emplace_back();
  Metrics all;
  for (const auto& run : plan.runs) {
    add_once(combinations_, run.levels);
    lengths_[run.levels] = run.lengths;
    if (!seeds_draw_.contains(run.levels)) seeds_draw_[run.levels] = draws_own_items(plan.study, run);
  }
  for (const auto& row : results.rows) {
    rows_[{row.levels, row.scaling, row.length}].push_back(&row);
    add_once(scalings_, row.scaling);
    all.insert(row.metrics.begin(), row.metrics.end());
  }
  metrics_.push_back(plan.study.compare.metric);
  for (const auto& metric : in_reading_order(all)) add_once(metrics_, metric);
}

const OutcomeTable::Rows& OutcomeTable::rows(const Combination& levels, const std::string& scaling,
                                             int64_t length) const {
  static const Rows none;
  const auto found = rows_.find({levels, scaling, length});
  return found == rows_.end() ? none : found->second;
}

int64_t OutcomeTable::first_length(const Combination& levels) const {
  const auto found = lengths_.find(levels);
  return found == lengths_.end() || found->second.empty() ? 0 : found->second.front();
}

std::vector<int64_t> OutcomeTable::lengths_of(const Combination& levels) const {
  const auto found = lengths_.find(levels);
  std::vector<int64_t> lengths = found == lengths_.end() ? std::vector<int64_t>{} : found->second;
  std::sort(lengths.begin(), lengths.end());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  return lengths;
}

std::vector<Outcome> OutcomeTable::of(const Question& question) const {
  return question.length > 0 ? at_length(question) : areas(question);
}

std::vector<Outcome> OutcomeTable::at_length(const Question& q) const {
  std::vector<Outcome> outcomes;
  for (const ResultRow* row : rows(q.levels, q.scaling, q.length)) {
    outcomes.push_back(outcome_of(*row, q.metric));
    const auto own = seeds_draw_.find(q.levels);
    outcomes.back().own_items = !row->instance && (own == seeds_draw_.end() || own->second);
  }
  return outcomes;
}

std::vector<Outcome> OutcomeTable::areas(const Question& question) const {
  const auto lengths = lengths_of(question.levels);
  if (lengths.size() < 2) return {};
  std::vector<std::vector<Outcome>> columns;
  for (const int64_t length : lengths) {
    columns.push_back(at_length({question.levels, question.scaling, question.metric, length}));
    if (columns.back().size() != columns.front().size()) return {};
  }
  std::vector<Outcome> areas;
  for (size_t run = 0; run < columns.front().size(); ++run) {
    Outcome area{.seed = columns.front()[run].seed, .instance = columns.front()[run].instance};
    std::vector<double> values;
    for (const auto& column : columns) {
      area.missing = area.missing || column[run].missing;
      values.push_back(column[run].value);
    }
    area.value = trapezes(lengths, values);
    areas.push_back(std::move(area));
  }
  return areas;
}

std::string OutcomeTable::refused(const Question& q) const {
  const auto lengths = q.length > 0 ? std::vector<int64_t>{q.length} : lengths_of(q.levels);
  for (const int64_t length : lengths)
    for (const ResultRow* row : rows(q.levels, q.scaling, length))
      if (!row->refused.empty())
        return q.length > 0 ? row->refused : fmt::format("length {}: {}", length, row->refused);
  return "";
}

bool OutcomeTable::has_runs(const Question& q) const {
  return !rows(q.levels, q.scaling, q.length > 0 ? q.length : first_length(q.levels)).empty();
}

bool OutcomeTable::has_metric(const Question& question) const {
  const auto outcomes = of(question);
  return std::any_of(outcomes.begin(), outcomes.end(), [](const Outcome& o) { return std::isfinite(o.value); });
}

std::string OutcomeTable::split(const Combination& levels) const {
  for (const auto& [key, rows] : rows_)
    if (std::get<0>(key) == levels && !rows.front()->split.empty()) return rows.front()->split;
  return "";
}

std::vector<SeedValue> by_seed(const std::vector<Outcome>& outcomes) {
  std::vector<SeedValue> seeds;
  std::vector<double> counts;
  for (const auto& outcome : outcomes) {
    if (outcome.missing) continue;
    const auto found =
        std::find_if(seeds.begin(), seeds.end(), [&](const SeedValue& s) { return s.seed == outcome.seed; });
    const auto place = static_cast<size_t>(found - seeds.begin());
    if (found == seeds.end()) {
      seeds.push_back({outcome.seed, 0.0});
      counts.push_back(0.0);
    }
    seeds[place].value += outcome.value;
    counts[place] += 1.0;
  }
  for (size_t i = 0; i < seeds.size(); ++i) seeds[i].value /= counts[i];
  return seeds;
}

std::vector<double> pooled_items(const std::vector<Outcome>& outcomes) {
  using Key = std::pair<bool, int64_t>;
  using Group = std::pair<Key, std::vector<const Outcome*>>;
  std::vector<Group> groups;  // runs that share their items
  for (const auto& outcome : outcomes) {
    if (outcome.missing) continue;
    if (outcome.items.empty()) return {};
    const Key key{outcome.own_items, outcome.own_items ? outcome.seed : outcome.instance.value_or(0)};
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.first == key; });
    if (found == groups.end())
      groups.push_back({key, {&outcome}});
    else
      found->second.push_back(&outcome);
  }
  std::vector<double> items;
  for (const auto& [key, runs] : groups) {
    for (size_t i = 0; i < runs.front()->items.size(); ++i) {
      double sum = 0.0;
      for (const Outcome* run : runs) {
        if (run->items.size() != runs.front()->items.size()) return {};
        sum += run->items[i];
      }
      items.push_back(sum / static_cast<double>(runs.size()));
    }
  }
  return items;
}

Hierarchy hierarchy_of(std::vector<Outcome> outcomes) {
  Hierarchy data;
  for (auto& outcome : outcomes) {
    if (outcome.missing || outcome.diverged()) continue;
    data.twins = outcome.twins;
    data.items_of = outcome.own_items ? ItemsOf::seed : ItemsOf::instance;
    data.runs.push_back({outcome.seed, outcome.instance.value_or(0), std::move(outcome.items)});
  }
  return data;
}

Combination without(Combination levels, std::string_view factor) {
  std::erase_if(levels, [&](const auto& one) { return one.first == factor; });
  return levels;
}

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

std::string level_names(const Combination& levels) {
  std::vector<std::string> names;
  for (const auto& [factor, level] : levels) names.push_back(level);
  return names.empty() ? "all runs" : join(names, ", ");
}

}  // namespace ordo
