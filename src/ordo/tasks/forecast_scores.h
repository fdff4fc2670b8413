// SPDX-License-Identifier: Apache-2.0
// How forecasts compare with what came, and with forecasts that need no model.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "ordo/data/examples.h"
#include "ordo/metrics/forecast_errors.h"
#include "ordo/tasks/forecast_data.h"
#include "ordo/tasks/task.h"

namespace ordo {

// Sums over the numbers that came; missing ones do not count.
struct ErrorSums {
  double squares = 0.0, sizes = 0.0, count = 0.0;
  void add(double predicted, double actual);
  double mse() const { return squares / count; }
  double mae() const { return sizes / count; }
};

// mse and mae in standard units of forecasts without a model, on the same windows: `persistence_`, nothing changes any
// more: the last value, or of values that are changes themselves no change; `seasonal_`, with a season, what was so
// many rows before, or so many seasons, as the context has it; `mean_`, the mean of training. `mse_over_gaps` and
// `persistence_mse_over_gaps` are of the windows with a gap, where some have one and some have none.
Metrics baseline_metrics(const ForecastData& data, const ForecastAim& aim, std::span<const ForecastWindow> windows,
                         int64_t season);

// "without a model: persistence 1.2944 / 0.7132, …", for people.
std::string baseline_sentence(const Metrics& baselines, int64_t season);

// Forecasts of the windows of a split, in their order. mse, mae: means over all windows, steps and channels, in
// standard units; smape in the data's own; mase, where every next row is asked for: in naive errors of training, of the
// season or of one row. An example, for intervals, is a block of windows as long as a window: neighbours share most of
// their rows, and do not vary independently.
class ForecastScores {
 public:
  // All outlive it. `context`: rows that are read.
  ForecastScores(const ForecastData& data, const ForecastAim& aim, std::span<const ForecastWindow> windows,
                 int64_t context, int64_t season, bool details);
  // Of one channel of a window, [steps], in standard units; `number` is its row among `rows`, which can name it. Throws
  // NumericError, with that name, for what is not finite where a number came.
  void add(size_t window, int64_t channel, std::span<const double> predicted, const ExampleSet& rows, uint64_t number);
  // With details: intervals, and a row for each window and channel.
  Evaluation evaluation(const StreamOptions& options);

 private:
  struct Block {
    std::vector<double> predicted, actual;
    void add(double told, double came);
  };
  void close_block();
  void add_row(const ForecastWindow& window, int64_t channel, const ErrorSums& errors, const std::string& from);

  const ForecastData& data_;
  ForecastAim aim_;
  std::span<const ForecastWindow> windows_;
  bool details_;
  size_t block_windows_, block_ = 0;
  std::vector<std::vector<double>> naive_;  // [series][channel]; empty: not asked for
  Block standard_, own_, scaled_;
  ForecastErrors standard_errors_, own_errors_, scaled_errors_;
  ErrorSums gaps_;
  double count_ = 0.0;
  std::vector<std::string> rows_;
};

}  // namespace ordo
