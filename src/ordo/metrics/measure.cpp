// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/measure.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "ordo/core/errors.h"
#include "ordo/core/hash.h"
#include "ordo/statistics/bootstrap.h"

namespace ordo {

std::vector<std::vector<double>> ExampleMetric::values_together(std::span<const double> weights) const {
  std::vector<std::vector<double>> all;
  std::vector<double> own(weights.size() / kTogether);
  for (size_t one = 0; one < kTogether; ++one) {
    for (size_t i = 0; i < own.size(); ++i) own[i] = weights[i * kTogether + one];
    all.push_back(values(own));
  }
  return all;
}

std::vector<double> SumMetric::values(std::span<const double> weights) const {
  ORDO_ASSERT(std::ssize(weights) == examples());
  std::vector<double> sums(width_, 0.0);
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0.0) continue;
    const double* row = rows_.data() + i * width_;
    for (size_t j = 0; j < width_; ++j) sums[j] += weights[i] * row[j];
  }
  return scores(sums);
}

void SumMetric::keep(std::span<const double> row) {
  ORDO_ASSERT(row.size() == width_);
  rows_.insert(rows_.end(), row.begin(), row.end());
}

std::span<const double> SumMetric::row(int64_t i) const {
  ORDO_ASSERT(i >= 0 && i < examples());
  return std::span(rows_).subspan(static_cast<size_t>(i) * width_, width_);
}

void draw_examples(const Resampling& how, int64_t draw, std::span<double> weights) {
  std::fill(weights.begin(), weights.end(), 0.0);
  KeyedSequence sequence(mix(key_of(how.seed, "examples"), static_cast<uint64_t>(draw)));
  for (size_t i = 0; i < weights.size(); ++i) weights[sequence.below(weights.size())] += 1.0;
}

namespace {

// What becomes of one value's draws.
Interval interval_of(std::vector<double> draws, double level) {
  const auto all = static_cast<double>(draws.size());
  std::erase_if(draws, [](double value) { return !std::isfinite(value); });
  const double undefined = all - static_cast<double>(draws.size());
  if (draws.empty() || undefined > 0.5 * (1.0 - level) * all) return {.level = level};
  return percentile_interval(std::move(draws), level);
}

// Of each value those of all draws.
std::vector<std::vector<double>> drawn_values(const ExampleMetric& metric, const Resampling& how, size_t values) {
  constexpr size_t kTogether = ExampleMetric::kTogether;
  std::vector<std::vector<double>> drawn(values);
  const auto examples = static_cast<size_t>(metric.examples());
  if (examples < 2) return drawn;
  std::vector<double> weights(examples), together(examples * kTogether);
  for (int64_t draw = 0; draw < how.draws; draw += kTogether) {
    for (size_t one = 0; one < kTogether; ++one) {
      draw_examples(how, draw + static_cast<int64_t>(one), weights);
      for (size_t i = 0; i < examples; ++i) together[i * kTogether + one] = weights[i];
    }
    const auto found = metric.values_together(together);
    const auto due = std::min<int64_t>(kTogether, how.draws - draw);
    for (const auto& of_draw : std::span(found).first(static_cast<size_t>(due)))
      for (size_t j = 0; j < values; ++j) drawn[j].push_back(of_draw[j]);
  }
  return drawn;
}

}  // namespace

std::vector<MetricValue> metric_values(const ExampleMetric& metric, const Resampling& how) {
  require(how.draws >= 0, "metrics: the number of bootstrap draws must be 0 or more (found: {})", how.draws);
  require(how.level > 0.0 && how.level < 1.0, "metrics: the level of an interval must lie between 0 and 1 (found: {})",
          how.level);
  std::vector<double> weights(static_cast<size_t>(metric.examples()), 1.0);
  const std::vector<std::string> names = metric.names();
  const std::vector<double> values =
      weights.empty() ? std::vector<double>(names.size(), kNoNumber) : metric.values(weights);
  ORDO_ASSERT(names.size() == values.size());
  auto drawn = drawn_values(metric, how, values.size());
  std::vector<MetricValue> made;
  for (size_t j = 0; j < values.size(); ++j) {
    const bool defined = std::isfinite(values[j]);
    made.push_back({.name = names[j],
                    .value = values[j],
                    .interval = defined ? interval_of(std::move(drawn[j]), how.level) : Interval{.level = how.level}});
  }
  return made;
}

Json example_row(const ExampleMetric& metric, int64_t i) {
  const std::vector<std::string> columns = metric.columns();
  const std::vector<double> numbers = metric.example(i);
  ORDO_ASSERT(columns.size() == numbers.size());
  Json row = Json::object();
  for (size_t j = 0; j < columns.size(); ++j) row[columns[j]] = numbers[j];
  return row;
}

}  // namespace ordo
