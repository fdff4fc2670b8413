// SPDX-License-Identifier: Apache-2.0
// Which evaluation was the best so far, and when a run no longer improves.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "ordo/tasks/task.h"

namespace ordo {

// "validation.loss" (smaller is better) or "+validation.accuracy" (larger is better).
struct MetricChoice {
  Split split = Split::validation;
  std::string name;
  bool larger = false;

  static std::optional<MetricChoice> parse(std::string_view text);
  // Nothing when the metric is not there or not finite: such a value is never the best and never an improvement.
  std::optional<double> of(Split evaluated, const Metrics& metrics) const;
  bool better(double value, double than, double by = 0.0) const {
    return larger ? value > than + by : value < than - by;
  }
};

}  // namespace ordo
