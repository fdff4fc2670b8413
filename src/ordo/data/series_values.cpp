// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/series_values.h"

#include <algorithm>
#include <cmath>

#include "ordo/config/words.h"
#include "ordo/core/errors.h"

namespace ordo {

namespace {

// One channel of a series whose cells before `row` are whole: NaN at `row`.
class ChannelFiller {
 public:
  ChannelFiller(Series& series, size_t channel, size_t channels)
      : series_(series), channel_(channel), channels_(channels) {}
  double& at(size_t row) { return series_.values[row * channels_ + channel_]; }
  size_t rows() const { return series_.times.size(); }
  size_t next_real(size_t row) {
    while (row < rows() && std::isnan(at(row))) ++row;
    return row;
  }

  // The cells of [from, to) are missing; those at both ends, where they exist, are not.
  void fill(size_t from, size_t to, bool straight) {
    const bool before = from > 0, behind = to < rows();
    for (size_t row = from; row < to; ++row) {
      if (!before || (straight && !behind)) {
        at(row) = before ? at(from - 1) : at(to);
      } else if (!straight) {
        at(row) = at(from - 1);
      } else {
        const double begin = series_.times[from - 1], end = series_.times[to];
        const double share = (series_.times[row] - begin) / (end - begin);
        at(row) = at(from - 1) + share * (at(to) - at(from - 1));
      }
    }
  }

 private:
  Series& series_;
  size_t channel_, channels_;
};

}  // namespace

bool takes_logarithm(SeriesValues values) { return values == SeriesValues::log || values == SeriesValues::log_returns; }

std::string no_logarithm(double value) { return fmt::format("{} has no logarithm (task.data.values)", value); }

void fill_missing(Series& series, const std::vector<std::string>& channels, MissingCells how,
                  const std::string& where) {
  const bool whole = std::none_of(series.values.begin(), series.values.end(), [](double v) { return std::isnan(v); });
  if (whole) return;
  ORDO_ASSERT(how != MissingCells::stop);
  series.missing.resize(series.values.size());
  for (size_t i = 0; i < series.values.size(); ++i) series.missing[i] = std::isnan(series.values[i]);
  for (size_t c = 0; c < channels.size(); ++c) {
    ChannelFiller channel(series, c, channels.size());
    require<DataError>(channel.next_real(0) < channel.rows(), "{}: channel '{}' has no value at all: leave it out",
                       where, shown(channels[c]));
    for (size_t row = 0; row < channel.rows(); ++row) {
      const size_t real = channel.next_real(row);
      channel.fill(row, real, how == MissingCells::interpolate);
      row = real;
    }
  }
}

void transform_values(Series& series, const std::vector<std::string>& channels, SeriesValues values,
                      const std::string& where) {
  const size_t C = channels.size();
  if (takes_logarithm(values)) {
    for (size_t i = 0; i < series.values.size(); ++i) {
      require<DataError>(series.values[i] > 0.0, "{}: line {}: channel '{}': {}", where, series.lines[i / C],
                         shown(channels[i % C]), no_logarithm(series.values[i]));
      series.values[i] = std::log(series.values[i]);
    }
  }
  if (values != SeriesValues::differences && values != SeriesValues::log_returns) return;
  if (series.times.empty()) return;  // `keep` left none of its rows
  for (size_t i = series.values.size(); i-- > C;) {
    series.values[i] -= series.values[i - C];
    if (!series.missing.empty()) series.missing[i] = series.missing[i] || series.missing[i - C];
  }
  const auto cells = static_cast<std::ptrdiff_t>(C);
  series.values.erase(series.values.begin(), series.values.begin() + cells);
  if (!series.missing.empty()) series.missing.erase(series.missing.begin(), series.missing.begin() + cells);
  series.times.erase(series.times.begin());
  series.lines.erase(series.lines.begin());
}

}  // namespace ordo
