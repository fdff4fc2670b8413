// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/judge.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/train/trainer.h"

namespace ordo {

std::optional<MetricChoice> MetricChoice::parse(std::string_view text) {
  MetricChoice choice;
  if (text.starts_with('+')) {
    choice.larger = true;
    text.remove_prefix(1);
  }
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot + 1 == text.size()) return std::nullopt;
  choice.name = text.substr(dot + 1);
  for (const Split split : {Split::train, Split::validation, Split::test})
    if (text.substr(0, dot) == split_name(split)) {
      choice.split = split;
      return choice;
    }
  return std::nullopt;
}

std::optional<double> MetricChoice::of(Split evaluated, const Metrics& metrics) const {
  const auto found = metrics.find(name);
  if (evaluated != split || found == metrics.end() || !std::isfinite(found->second)) return std::nullopt;
  return found->second;
}

Judge::Judge(const RunConfig& config)
    : best_by_(MetricChoice::parse(config.checkpoint.best)),
      best_given_(config.checkpoint.best != CheckpointConfig{}.best) {
  if (!config.train.early_stop) return;
  early_by_ = MetricChoice::parse(config.train.early_stop->metric);
  patience_ = config.train.early_stop->patience;
  min_delta_ = config.train.early_stop->min_delta;
}

namespace {
void require_split(std::string_view key, const std::optional<MetricChoice>& choice, const Task& task) {
  if (!choice || task.has(choice->split)) return;
  throw ConfigError(
      fmt::format("{} is a metric of {} data, and there is none: give task.data.{}, or a metric of another "
                  "split",
                  key, split_name(choice->split), split_name(choice->split)));
}

void require_name(std::string_view key, const std::optional<MetricChoice>& choice, const EvalReport& report) {
  const Metrics& metrics = report.evaluation.metrics;
  if (!choice || choice->split != report.split || metrics.contains(choice->name)) return;
  std::vector<std::string> names;
  for (const auto& [name, value] : metrics) names.push_back(name);
  std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return edit_distance(choice->name, a) < edit_distance(choice->name, b);
  });
  throw ConfigError(fmt::format("{} asks for the metric '{}' of {} data, but there are only: {}", key, choice->name,
                                split_name(choice->split), join(names, ", ")));
}
}  // namespace

void Judge::require_splits(const Task& task) const {
  require_split("train.early_stop.metric", early_by_, task);
  if (best_given_) require_split("checkpoint.best", best_by_, task);
}

std::set<Split> Judge::splits() const {
  std::set<Split> all{Split::validation};
  if (best_by_) all.insert(best_by_->split);
  if (early_by_) all.insert(early_by_->split);
  return all;
}

void Judge::judge(EvalReport& report, TrainState& state) {
  if (report.refused.empty()) {
    require_name("train.early_stop.metric", early_by_, report);
    require_name("checkpoint.best", best_by_, report);
  }
  if (early_by_ && report.split == early_by_->split) {
    const auto value = early_by_->of(report.split, report.evaluation.metrics);
    const bool improved = value && (!state.early_best || early_by_->better(*value, *state.early_best, min_delta_));
    if (improved) state.early_best = value;
    state.without_improvement = improved ? 0 : state.without_improvement + 1;
  }
  if (!best_by_) return;
  const auto value = best_by_->of(report.split, report.evaluation.metrics);
  if (!value || (state.best && !best_by_->better(*value, *state.best))) return;
  state.best = value;
  report.best = new_best_ = true;
}

bool Judge::no_longer_improves(const TrainState& state) const {
  return early_by_ && state.without_improvement >= patience_;
}

}  // namespace ordo
