// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/measured.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace ordo {

void measure(const ExampleMetric& metric, const StreamOptions& options, Evaluation& into, const Told& told) {
  for (auto& [name, value, interval] : metric_values(metric, {.draws = options.details ? Resampling{}.draws : 0})) {
    const bool of_one_class = name.find('/') != std::string::npos;
    if (!std::isfinite(value) || (of_one_class && !options.details) || (told && !told(name))) continue;
    into.metrics[name] = value;
    if (interval.exists()) into.intervals[name] = std::move(interval);
  }
  if (const std::string signature = metric.signature(); options.details && !signature.empty())
    into.notes.push_back(fmt::format("{}: {}", metric.names().front(), signature));
}

void measure_intervals(const ExampleMetric& metric, Evaluation& into) {
  for (auto& [name, value, interval] : metric_values(metric))
    if (interval.exists() && into.metrics.contains(name)) into.intervals[name] = std::move(interval);
}

std::string example_line(uint64_t number, const std::string& from, const Json& told,
                         std::span<const ExampleMetric* const> metrics) {
  Json line{{"example", number}, {"from", from}};
  line.update(told);
  for (const ExampleMetric* const metric : metrics) line.update(example_row(*metric, static_cast<int64_t>(number)));
  return json_line(line);
}

}  // namespace ordo
