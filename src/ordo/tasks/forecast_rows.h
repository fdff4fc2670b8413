// SPDX-License-Identifier: Apache-2.0
// Windows of time series as rows of batches.
#pragma once
#include <string>
#include <vector>

#include "ordo/data/examples.h"
#include "ordo/tasks/forecast_data.h"

namespace ordo {

// Example n is window n / channels, channel n % channels; joint: window n with all channels.
// A batch: signal [B, context, C]; targets float [B, steps * C], step by step, NaN where a cell was missing; where
// missing steps are hidden and some are, mask.keys; with `times` the stamps as coords.
class ForecastRows final : public ExampleSet {
 public:
  struct Options {
    int64_t context = 1;
    bool joint = false, times = false;
  };
  // All outlive it.
  ForecastRows(const ForecastData& data, const ForecastAim& aim, const std::vector<ForecastWindow>& windows,
               const Options& options)
      : data_(data), aim_(aim), windows_(windows), options_(options) {}
  int64_t count() const override { return std::ssize(windows_) * rows_a_window(); }
  Batch batch(std::span<const uint64_t> numbers) const override;
  std::string name(uint64_t number) const override;  // "ETTh1.csv: lines 2 to 97, OT"
  int64_t rows_a_window() const { return options_.joint ? 1 : data_.channels(); }

 private:
  struct Row {
    const ForecastSeries& series;
    const ForecastWindow& window;
    int64_t first, end;  // channels
  };
  Row row(uint64_t number) const;
  void fill(const Row& row, float* signal, float* targets) const;
  Tensor visible(std::span<const uint64_t> numbers) const;  // bool [B, context]; undefined: all are
  Tensor stamps(std::span<const uint64_t> numbers) const;   // fp64 [B, context, 1]

  const ForecastData& data_;
  ForecastAim aim_;
  const std::vector<ForecastWindow>& windows_;
  Options options_;
};

}  // namespace ordo
