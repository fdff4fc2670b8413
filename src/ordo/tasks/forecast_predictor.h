// SPDX-License-Identifier: Apache-2.0
// What comes after the end of a series that nobody has seen to its end.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ordo/tasks/forecast_data.h"
#include "ordo/tasks/forecast_rows.h"
#include "ordo/tasks/predictor.h"

namespace ordo {

class ForecastPredictor final : public Predictor {
 public:
  struct Options {
    ForecastSource source;  // how its files are read
    ForecastAim aim;
    bool joint = false, times = false;
    uint64_t seed = 0;
    std::function<Tensor(Model&, const Batch&)> tell;  // [B, outputs], in standard units
  };
  // `training`: whose channels, means and deviations hold for all inputs; it outlives it.
  ForecastPredictor(const ForecastData& training, Options options)
      : training_(training), options_(std::move(options)) {}
  std::string reads() const override { return "a file like that of the training data"; }
  bool reads_files() const override { return true; }
  // {"forecast": [{"series": "…", "time": "2018-06-26 20:00:00", "OT": 3.2, …}, …]} from the last `length` rows of each
  // series; "series" where there are several, "row" (from 1) in place of "time" where rows have no date. In the units
  // of task.data.values: logarithms are taken back, changes stay changes. Times go on at the median step of training,
  // months on the calendar.
  std::vector<Json> predict(Model& model, std::span<const PredictorInput> inputs, int64_t length) const override;
  std::string line(const Json& told, const PredictorInput& input) const override;

 private:
  ForecastData read(const PredictorInput& input, int64_t length) const;
  ForecastSeries continued(Series read, const SeriesSet& about, const ForecastSeries& like) const;
  Json told(const ForecastData& data, const ForecastRows& rows, const Tensor& values) const;
  const ForecastData& training_;
  Options options_;
};

}  // namespace ordo
