// SPDX-License-Identifier: Apache-2.0
// Which evaluation was the best so far, and when a run no longer improves.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

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

struct RunConfig;   // train/run_config.h
struct EvalReport;  // train/trainer.h
struct TrainState;

// Follows checkpoint.best and train.early_stop over a run. What it remembers is in the TrainState, so that a resume
// goes on with it.
class Judge {
 public:
  explicit Judge(const RunConfig& config);
  // Throws ConfigError when a metric is of a split that the task does not have: it would never be judged. The default
  // of checkpoint.best asks for nothing.
  void require_splits(const Task& task) const;
  std::set<Split> splits() const;  // that are to be evaluated: validation, and those of the metrics
  // Marks the report when it is the best so far. Throws ConfigError, with the names there are, for a metric that the
  // evaluation does not have.
  void judge(EvalReport& report, TrainState& state);
  bool no_longer_improves(const TrainState& state) const;
  bool new_best() const { return new_best_; }  // since it was last taken
  bool take_new_best() { return std::exchange(new_best_, false); }

 private:
  std::optional<MetricChoice> best_by_, early_by_;
  bool best_given_ = false;  // checkpoint.best is not the default
  int64_t patience_ = 0;
  double min_delta_ = 0.0;
  bool new_best_ = false;
};

}  // namespace ordo
