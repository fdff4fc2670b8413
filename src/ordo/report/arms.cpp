// SPDX-License-Identifier: Apache-2.0
#include "ordo/report/arms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "ordo/core/text.h"
#include "ordo/report/numbers.h"

namespace ordo::report {

namespace {

size_t place_in(const std::vector<std::string>& list, const std::string& word) {
  return static_cast<size_t>(std::find(list.begin(), list.end(), word) - list.begin());
}

void add_once(std::vector<std::string>& list, const std::string& word) {
  if (place_in(list, word) == list.size()) list.push_back(word);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// The factors, but for one, that have more than one level among the runs.
std::vector<std::string> varying_but(const std::vector<PlannedRun>& runs, const std::string& one) {
  std::vector<std::string> factors;
  for (const auto& run : runs)
    for (const auto& [factor, level] : run.levels)
      if (factor != one && factor != kScalingFactor && level != level_of(runs.front().levels, factor))
        add_once(factors, factor);
  return factors;
}

}  // namespace

std::string scaling_text(const std::string& scaling) {
  std::string text = scaling;
  if (text.starts_with('{') && text.ends_with('}')) text = text.substr(1, text.size() - 2);
  if (text.starts_with("kind: ")) text = text.substr(6);
  return replaced(text, ": ", " ");
}

std::string Traced::text() const {
  return fmt::format("seed {}{}: {}", seed, instance ? fmt::format(", instance {}", *instance) : "",
                     number_text(value));
}

Arms::Arms(const StudyReport& study) : study_(study), factor_(study.plan.study.compare.factor) {
  const CompareConfig& compare = study.plan.study.compare;
  if (!factor_.empty()) elsewhere_ = varying_but(study.plan.runs, factor_);
  for (const auto& run : study.plan.runs) {
    add_once(names_, name(run.levels));
    add_once(places_, place(run.levels));
  }
  for (const auto& cell : study.summary.cells) {
    add_once(names_, name(cell.levels, cell.scaling));
    add_once(places_, place(cell.levels));
  }
  metrics_.push_back(compare.metric);
  for (const auto& claim : study.plan.study.claims) add_once(metrics_, claim.metric.empty() ? metric() : claim.metric);
  for (const auto& reference : study.plan.study.references) add_once(metrics_, reference.metric);
  if (compare.area) return;
  length_ = compare.length.value_or(0);
  if (length_ == 0)
    for (const auto& cell : study.summary.cells)
      if (length_ == 0 && cell.metric == metric()) length_ = cell.length;
}

std::string Arms::name(const Combination& levels, const std::string& scaling) const {
  if (factor_ == kScalingFactor) return level(scaling.empty() ? std::string(kUnscaled) : scaling);
  std::vector<std::string> parts;
  for (const auto& [factor, level] : levels)
    if (factor_.empty() || factor == factor_) parts.push_back(level);
  if (parts.empty()) parts.emplace_back("all runs");
  if (!scaling.empty()) parts.push_back(scaling_text(scaling));
  return join(parts, ", ");
}

std::string Arms::level(const std::string& level) const {
  if (factor_ != kScalingFactor) return level;
  return level == kUnscaled ? "as trained" : scaling_text(level);
}

std::string Arms::place(const Combination& levels) const {
  std::vector<std::string> parts;
  for (const auto& [factor, level] : levels)
    if (place_in(elsewhere_, factor) < elsewhere_.size()) parts.push_back(factor + " " + level);
  return join(parts, ", ");
}

int Arms::number(const std::string& arm) const {
  const size_t at = place_in(names_, arm);
  return at == names_.size() ? 7 : static_cast<int>(at);
}

std::string Arms::text(const Combination& levels, const std::string& scaling) const {
  const std::string where = place(levels);
  return where.empty() ? name(levels, scaling) : name(levels, scaling) + ", " + where;
}

std::vector<const Cell*> Arms::cells(const std::string& metric) const {
  std::vector<const Cell*> some;
  for (const auto& cell : study_.summary.cells)
    if (cell.metric == metric) some.push_back(&cell);
  const auto rank = [&](const Cell* cell) {
    return std::tuple(cell->length != length_, cell->length == 0, cell->length, place_in(places_, place(cell->levels)),
                      place_in(names_, name(cell->levels, cell->scaling)));
  };
  std::stable_sort(some.begin(), some.end(), [&](const Cell* a, const Cell* b) { return rank(a) < rank(b); });
  return some;
}

const Cell* Arms::cell(const std::string& arm, const std::string& place, const std::string& metric,
                       int64_t length) const {
  for (const auto& cell : study_.summary.cells)
    if (cell.metric == metric && cell.length == length && name(cell.levels, cell.scaling) == arm &&
        this->place(cell.levels) == place)
      return &cell;
  return nullptr;
}

std::vector<int64_t> Arms::lengths(const std::string& metric) const {
  std::vector<int64_t> all;
  for (const auto* cell : cells(metric))
    if (all.empty() || all.back() != cell->length) all.push_back(cell->length);
  return all;
}

std::vector<Traced> Arms::traced(const Cell& cell) const {
  std::vector<Traced> all;
  if (cell.length == 0) {  // of an area: the run of that seed, if there is no second one
    for (size_t i = 0; i < cell.values.size(); ++i) {
      Traced one{.value = cell.values[i], .seed = i < cell.seeds.size() ? cell.seeds[i] : 0, .run = ""};
      int64_t runs = 0;
      for (const auto& run : study_.results.runs)
        if (run.levels == cell.levels && run.seed == one.seed) one.run = ++runs == 1 ? run.run : "";
      all.push_back(one);
    }
    return all;
  }
  for (const auto& row : study_.results.rows) {
    const auto found = row.metrics.find(cell.metric);
    if (row.length == cell.length && row.scaling == cell.scaling && row.levels == cell.levels &&
        (cell.split.empty() || row.split == cell.split) && found != row.metrics.end() && std::isfinite(found->second))
      all.push_back({.value = found->second, .seed = row.seed, .instance = row.instance, .run = row.run});
  }
  return all;
}

std::string Arms::verdict(const Cell& cell) const {
  const std::string& against = study_.plan.study.compare.against;
  const std::string own = factor_ == kScalingFactor ? (cell.scaling.empty() ? std::string(kUnscaled) : cell.scaling)
                                                    : level_of(cell.levels, factor_);
  for (const auto& pair : study_.summary.pairs) {
    if (pair.metric != cell.metric || pair.length != cell.length || place(pair.where) != place(cell.levels)) continue;
    if (factor_ != kScalingFactor && !cell.scaling.empty()) continue;  // pairs are as trained
    if (pair.a == own && pair.b == against) return pair.verdict;
    if (pair.b == own && pair.a == against)
      return pair.verdict == "better" ? "worse" : pair.verdict == "worse" ? "better" : pair.verdict;
  }
  return "";
}

}  // namespace ordo::report
