// SPDX-License-Identifier: Apache-2.0
// Series as forecasts are made of them: scaled, divided by rows into training, validation and test, and cut into
// windows, each a context that is read and what is to be told of the time behind it.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ordo/data/batch.h"
#include "ordo/data/series.h"

namespace ordo {

struct SplitRows {
  int64_t train = 0, validation = 0, test = 0;  // of each series, one after the other; rows behind them are not used
};
void fields(Fields& f, SplitRows& c);
struct SplitShares {
  double validation = 0.1, test = 0.2;  // of the rows of each series, its last ones
};
void fields(Fields& f, SplitShares& c);

struct RowRange {
  int64_t begin = 0, end = 0;
  int64_t rows() const { return end - begin; }
};
struct ForecastSeries {
  Series data;                          // its values in standard units
  std::vector<double> mean, deviation;  // [channels], of the training rows
  std::array<RowRange, 3> parts;        // by Split
  double step = 0.0;                    // median time between two training rows
  double value(int64_t row, int64_t channel) const {
    return data.values[static_cast<size_t>(row * channels() + channel)];
  }
  double actual(int64_t row, int64_t channel) const;  // NaN where the cell was missing
  int64_t channels() const { return static_cast<int64_t>(mean.size()); }
};
struct ForecastData {
  SeriesSet about;  // all but the series
  std::vector<ForecastSeries> series;
  bool changes = false;  // the values are changes since the row before
  int64_t channels() const { return static_cast<int64_t>(about.channels.size()); }
};

struct ForecastSource {
  SeriesSource data;
  std::optional<SplitRows> rows = {};      // one of both, or
  std::optional<SplitShares> shares = {};  // neither: the default shares
  bool scale = true;                       // by mean and deviation of the training rows; false: as they are
};
// Throws DataError for a series with fewer rows than the split counts, for a channel that is constant or has no value
// in training, and as to_standard_units does.
ForecastData read_forecast_data(const ForecastSource& source, uint64_t seed);
// Values less the mean, by the deviation. Throws DataError, with the line, for one that no float holds then.
void to_standard_units(ForecastSeries& series, const SeriesSet& about);

// What is asked of the time behind a context: the next `horizon` rows; or, where `ahead` (seconds) is given, the one
// row nearest to that long after the last one read, at most `tolerance` from it.
struct ForecastAim {
  int64_t horizon = 1;
  double ahead = 0.0, tolerance = 0.0;
  int64_t steps() const { return ahead > 0.0 ? 1 : horizon; }
};
struct ForecastWindow {
  size_t series = 0;
  int64_t end = 0, target = 0;  // one past the context's last row; the first row asked for
  bool gap = false;  // with `ahead`: somewhere from the context to what is asked rows are further apart than usual
};
// All whose targets lie in the split, one row after the other; the context may begin in the part before.
std::vector<ForecastWindow> forecast_windows(const ForecastData& data, const ForecastAim& aim, Split split,
                                             int64_t context);

}  // namespace ordo
