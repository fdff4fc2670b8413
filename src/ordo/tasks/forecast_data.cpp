// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/forecast_data.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ordo/config/words.h"
#include "ordo/core/errors.h"

namespace ordo {

namespace {

constexpr double kUsualStep = 1.5;  // times the median: more than that is a gap

std::string series_place(const SeriesSet& set, const Series& series) {
  return series.name.empty() ? set.source : fmt::format("{}, {}", set.source, shown(series.name));
}

std::array<RowRange, 3> divided_rows(const ForecastSource& source, int64_t rows, const std::string& where) {
  if (source.rows) {
    const auto& [train, validation, test] = *source.rows;
    require<DataError>(train + validation + test <= rows,
                       "{} has {} rows, fewer than task.rows asks for: {} of training, {} of validation and {} of test",
                       where, rows, train, validation, test);
    return {RowRange{0, train}, {train, train + validation}, {train + validation, train + validation + test}};
  }
  const SplitShares shares = source.shares.value_or(SplitShares{});
  const auto part = [&](double share) { return static_cast<int64_t>(std::floor(share * static_cast<double>(rows))); };
  const int64_t test = rows - part(shares.test), validation = test - part(shares.validation);
  return {RowRange{0, validation}, {validation, test}, {test, rows}};
}

// Of a channel, over its training rows that have a value.
struct TrainingScale {
  double mean = 0.0, deviation = 0.0;  // divided by n; 0 of a channel that is constant
  double count = 0.0;
};

// By two passes, corrected for the rounding of the first (Chan, Golub and LeVeque 1983), in units of a power of two
// near the largest value: squares of small values are not lost.
TrainingScale training_scale(const ForecastSeries& series, int64_t channel) {
  const RowRange train = series.parts[static_cast<size_t>(Split::train)];
  std::vector<double> values;
  for (int64_t row = train.begin; row < train.end; ++row)
    if (const double value = series.actual(row, channel); !std::isnan(value)) values.push_back(value);
  if (values.empty()) return {};
  const auto count = static_cast<double>(values.size());
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  if (*low == *high) return {.mean = *low, .count = count};
  const int unit = std::ilogb(std::max(std::abs(*low), std::abs(*high)));
  double sum = 0.0, apart = 0.0, squares = 0.0;
  for (double& value : values) sum += value = std::scalbn(value, -unit);
  const double first = sum / count;
  for (const double value : values) apart += value - first, squares += (value - first) * (value - first);
  const double variance = std::max(squares - apart * apart / count, 0.0) / count;
  return {.mean = std::scalbn((sum + apart) / count, unit),
          .deviation = std::scalbn(std::sqrt(variance), unit),
          .count = count};
}

// Why a channel cannot be scaled, and what to do about it; "": it can.
std::string no_scale(const TrainingScale& scale, int64_t rows) {
  constexpr double kRounding = 1e-15;  // of a number, as a share of it
  constexpr std::string_view kLeaveOut =
      "so that it cannot be scaled; leave it out (task.data.channels), or give task.scale: false";
  const std::string all = fmt::format("{} training row{}", rows, rows == 1 ? "" : "s");
  if (scale.count == 0.0) return fmt::format("has no value in its {}, {}", all, kLeaveOut);
  if (scale.deviation == 0.0) return fmt::format("is constant over its {}, {}", all, kLeaveOut);
  if (scale.deviation <= std::abs(scale.mean) * kRounding)
    return fmt::format("is constant over its {} but for rounding, {}", all, kLeaveOut);
  if (!std::isfinite(scale.count * scale.deviation * scale.deviation))
    return "has values so large that the sum of their squares is no number; give it in a larger unit, or leave it out "
           "(task.data.channels)";
  return "";
}

void measure_scale(ForecastSeries& series, const SeriesSet& about) {
  const int64_t rows = series.parts[static_cast<size_t>(Split::train)].rows();
  const std::string place = series_place(about, series.data);
  const std::string thinned =
      about.thinned > 0 ? fmt::format(" ({} were left out: task.data.keep)", about.thinned) : "";
  require<DataError>(rows > 0,
                     "{}: {} row{} here{}, and none of them is for training, of which the scale would be taken; give "
                     "more rows, or task.scale: false",
                     place, series.data.rows(), series.data.rows() == 1 ? "" : "s", thinned);
  for (int64_t c = 0; c < series.channels(); ++c) {
    const auto i = static_cast<size_t>(c);
    const TrainingScale scale = training_scale(series, c);
    const std::string problem = no_scale(scale, rows);
    require<DataError>(problem.empty(), "{}: channel '{}' {}", place, shown(about.channels[i]), problem);
    series.mean[i] = scale.mean;
    series.deviation[i] = scale.deviation;
  }
}

double median_step(const ForecastSeries& series) {
  const RowRange train = series.parts[static_cast<size_t>(Split::train)];
  std::vector<double> steps;
  for (int64_t row = train.begin + 1; row < train.end; ++row)
    steps.push_back(series.data.times[static_cast<size_t>(row)] - series.data.times[static_cast<size_t>(row - 1)]);
  if (steps.empty()) return 0.0;
  const auto middle = steps.begin() + std::ssize(steps) / 2;
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

// The row from `from` on that is nearest to a time, if it is near enough.
std::optional<int64_t> row_near(const std::vector<double>& times, int64_t from, double time, double tolerance) {
  const auto behind = std::lower_bound(times.begin() + from, times.end(), time);
  std::optional<int64_t> nearest;
  double distance = tolerance;
  for (const auto one : {behind - (behind > times.begin() + from ? 1 : 0), behind}) {
    if (one == times.end() || std::abs(*one - time) > distance) continue;
    distance = std::abs(*one - time);
    nearest = one - times.begin();
  }
  return nearest;
}

// rows -> how many of the steps up to each row are gaps.
std::vector<int64_t> gaps_before(const ForecastSeries& series) {
  const auto& times = series.data.times;
  std::vector<int64_t> count(times.size(), 0);
  for (size_t row = 1; row < times.size(); ++row)
    count[row] = count[row - 1] + (times[row] - times[row - 1] > kUsualStep * series.step ? 1 : 0);
  return count;
}

}  // namespace

void fields(Fields& f, SplitRows& c) {
  f("train", c.train, "first rows of each series, for training", required(within(1, 1e9)));
  f("validation", c.validation, "rows behind those", within(0, 1e9));
  f("test", c.test, "rows behind those; what follows is not used", within(0, 1e9));
}

void fields(Fields& f, SplitShares& c) {
  f("validation", c.validation, "share of each series, before the test rows", below_one());
  f("test", c.test, "share of each series, its last rows", below_one());
}

double ForecastSeries::actual(int64_t row, int64_t channel) const {
  const auto cell = static_cast<size_t>(row * channels() + channel);
  if (!data.missing.empty() && data.missing[cell]) return std::numeric_limits<double>::quiet_NaN();
  return data.values[cell];
}

void to_standard_units(ForecastSeries& series, const SeriesSet& about) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  const size_t channels = series.mean.size();
  for (size_t i = 0; i < series.data.values.size(); ++i) {
    const size_t c = i % channels;
    double& value = series.data.values[i];
    const double standard = (value - series.mean[c]) / series.deviation[c];
    require<DataError>(
        std::abs(standard) <= kLargest,
        "{}: line {}: channel '{}': {} is more than a model can read ({:.3g} in standard units); correct "
        "it, or leave the channel out (task.data.channels)",
        about.source, series.data.lines[i / channels], shown(about.channels[c]), value, standard);
    value = standard;
  }
}

ForecastData read_forecast_data(const ForecastSource& source, uint64_t seed) {
  ForecastData made;
  made.about = read_series(source.data, seed);
  made.changes = source.data.values == SeriesValues::differences || source.data.values == SeriesValues::log_returns;
  const auto channels = static_cast<size_t>(made.channels());
  std::vector<Series> read;
  read.swap(made.about.series);
  for (auto& data : read) {
    ForecastSeries series;
    series.parts = divided_rows(source, data.rows(), series_place(made.about, data));
    series.data = std::move(data);
    series.mean.resize(channels, 0.0);
    series.deviation.resize(channels, 1.0);
    if (source.scale) measure_scale(series, made.about);
    to_standard_units(series, made.about);
    series.step = median_step(series);
    made.series.push_back(std::move(series));
  }
  return made;
}

std::vector<ForecastWindow> forecast_windows(const ForecastData& data, const ForecastAim& aim, Split split,
                                             int64_t context) {
  std::vector<ForecastWindow> windows;
  for (size_t s = 0; s < data.series.size(); ++s) {
    const ForecastSeries& series = data.series[s];
    const auto& times = series.data.times;
    const RowRange part = series.parts[static_cast<size_t>(split)];
    const auto gaps = gaps_before(series);
    for (int64_t end = std::max(context, part.begin); end + aim.steps() <= part.end; ++end) {
      const auto target = aim.ahead > 0.0
                              ? row_near(times, end, times[static_cast<size_t>(end - 1)] + aim.ahead, aim.tolerance)
                              : std::optional(end);
      if (!target || *target + aim.steps() > part.end) continue;
      const int64_t last = *target + aim.steps() - 1;
      windows.push_back(
          {.series = s,
           .end = end,
           .target = *target,
           .gap = aim.ahead > 0.0 && gaps[static_cast<size_t>(last)] > gaps[static_cast<size_t>(end - context)]});
    }
  }
  return windows;
}

}  // namespace ordo
