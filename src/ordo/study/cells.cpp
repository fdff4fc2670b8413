// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/cells.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ordo/statistics/modes.h"

namespace ordo {

namespace {

constexpr double kRounding = 1e-24;  // a variance below is that of sums of doubles
constexpr double kRelativeGap = 0.2;

bool reaches(const CompareConfig& compare, double value) {
  return larger_is_better(compare.metric) ? value >= compare.solved : value <= compare.solved;
}

void count_runs(const Plan& plan, const std::vector<Outcome>& outcomes, Cell& cell) {
  std::vector<double> values;  // NaN: diverged
  double sum = 0.0;
  for (const auto& outcome : outcomes) {
    cell.missing += outcome.missing ? 1 : 0;
    cell.diverged += outcome.diverged() ? 1 : 0;
    if (outcome.missing) continue;
    values.push_back(outcome.value);
    if (outcome.diverged()) continue;
    cell.values.push_back(outcome.value);
    cell.seeds.push_back(outcome.seed);
    sum += outcome.value;
  }
  cell.runs = static_cast<int64_t>(values.size());
  if (cell.diverged > 0 && larger_is_better(cell.metric))
    cell.mean_with_diverged = sum / static_cast<double>(values.size());
  if (cell.metric != plan.study.compare.metric || values.empty()) return;
  const Solved solved = count_solved(values, plan.study.compare.solved, larger_is_better(cell.metric));
  cell.solved = solved.solved;
  cell.solved_interval = solved.interval;
}

// Over the seeds; where they all gave the same, over the items.
Interval interval_of_mean(const std::vector<Outcome>& outcomes, const std::vector<double>& units, const Cell& cell) {
  if (cell.two_modes || cell.n < 2) return {};
  if (cell.sd > 0.0) return t_interval(units);
  return items_interval(pooled_items(outcomes), outcomes.front().twins);
}

void add_curve(const std::vector<Cell>& cells, const Cell& area, const CompareConfig& compare,
               std::vector<LengthCurve>& curves) {
  LengthCurve curve{.levels = area.levels, .scaling = area.scaling, .metric = area.metric, .area = area.mean};
  for (const auto& cell : cells) {
    if (cell.length == 0 || cell.levels != area.levels || cell.scaling != area.scaling || cell.metric != area.metric)
      continue;
    curve.lengths.push_back(cell.length);
    curve.cells.push_back(cell);
    const bool fails = cell.n > 0 ? !reaches(compare, cell.mean) || cell.diverged > 0 : !cell.refused.empty();
    if (fails && !curve.first_failing && cell.metric == compare.metric) curve.first_failing = cell.length;
  }
  curves.push_back(std::move(curve));
}

}  // namespace

double modes_gap(const std::string& metric, const std::vector<double>& values) {
  double sum = 0.0, count = 0.0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += std::abs(value);
    count += 1.0;
  }
  if (larger_is_better(metric) || count == 0.0) return kLeastGap;
  return std::max(kLeastGap, kRelativeGap * sum / count);
}

int64_t compared_length(const StudyConfig& study, const OutcomeTable& outcomes, const Combination& levels) {
  if (study.compare.area) return 0;
  return study.compare.length ? *study.compare.length : outcomes.first_length(levels);
}

Cell cell_of(const Plan& plan, const OutcomeTable& table, const Question& question) {
  Cell cell{.levels = question.levels,
            .scaling = question.scaling,
            .split = table.split(question.levels),
            .metric = question.metric,
            .length = question.length};
  const auto outcomes = table.of(question);
  cell.refused = table.refused(question);
  count_runs(plan, outcomes, cell);

  std::vector<double> all, units;  // a value a seed; units: the finite ones
  for (const auto& seed : by_seed(outcomes)) {
    all.push_back(seed.value);
    if (std::isfinite(seed.value)) units.push_back(seed.value);
  }
  const Sample sample = describe(units);
  cell.n = sample.n;
  cell.mean = sample.mean;
  cell.sd = sample.sd;
  cell.two_modes = two_modes(all, modes_gap(cell.metric, all)).found;
  cell.interval = interval_of_mean(outcomes, units, cell);
  if (cell.n == 0 && cell.refused.empty() && cell.diverged == 0 && cell.missing > 0) cell.refused = "no run gave it";
  return cell;
}

std::vector<Cell> all_cells(const Plan& plan, const OutcomeTable& table) {
  std::set<std::string> along{plan.study.compare.metric};  // metrics with an area
  for (const auto& claim : plan.study.claims) along.insert(claim.metric);

  std::vector<Cell> cells;
  for (const auto& levels : table.combinations()) {
    std::vector<int64_t> lengths = table.lengths_of(levels);
    if (lengths.size() > 1) lengths.push_back(0);
    for (const auto& scaling : table.scalings())
      for (const int64_t length : lengths)
        for (const auto& metric : table.metrics()) {
          const Question question{levels, scaling, metric, length};
          if (metric == plan.study.compare.metric ? !table.has_runs(question) : !table.has_metric(question)) continue;
          if (length == 0 && !along.contains(metric)) continue;
          cells.push_back(cell_of(plan, table, question));
        }
  }
  return cells;
}

std::vector<LengthCurve> length_curves(const Plan& plan, const std::vector<Cell>& cells) {
  std::vector<LengthCurve> curves;
  for (const auto& cell : cells)
    if (cell.length == 0) add_curve(cells, cell, plan.study.compare, curves);
  return curves;
}

std::vector<SourceShares> source_shares(const Plan& plan, const OutcomeTable& table) {
  std::vector<SourceShares> all;
  for (const auto& levels : table.combinations()) {
    const int64_t length = compared_length(plan.study, table, levels);
    for (const auto& scaling : table.scalings()) {
      const Question question{levels, scaling, plan.study.compare.metric, length};
      const Hierarchy data = hierarchy_of(table.of(question));
      if (data.runs.size() < 2 || data.runs.front().items.empty()) continue;
      const VarianceShares shares = variance_shares(data);
      if (shares.variance > kRounding) all.push_back({levels, scaling, question.metric, length, shares});
    }
  }
  return all;
}

}  // namespace ordo
