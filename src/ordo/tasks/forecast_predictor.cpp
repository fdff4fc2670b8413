// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/forecast_predictor.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ordo/config/words.h"
#include "ordo/core/text.h"
#include "ordo/data/time_stamps.h"

namespace ordo {

// In the units of training, with rows behind the last one whose cells are missing: those that are asked for.
ForecastSeries ForecastPredictor::continued(Series read, const SeriesSet& about, const ForecastSeries& like) const {
  ForecastSeries made{.data = std::move(read), .mean = like.mean, .deviation = like.deviation, .step = like.step};
  to_standard_units(made, about);
  Series& series = made.data;
  const int64_t channels = like.channels();
  series.missing.resize(series.values.size(), false);
  const double step = options_.aim.ahead > 0.0 ? options_.aim.ahead : like.step;
  const int64_t months = about.dated && options_.aim.ahead <= 0.0 ? months_in(step) : 0;
  const double last = series.times.back();
  for (int64_t i = 1; i <= options_.aim.steps(); ++i) {
    series.times.push_back(months > 0 ? months_later(last, i * months) : last + static_cast<double>(i) * step);
    series.lines.push_back(series.lines.back() + 1);
    series.values.resize(series.values.size() + static_cast<size_t>(channels), 0.0);
    series.missing.resize(series.values.size(), true);
  }
  return made;
}

ForecastData ForecastPredictor::read(const PredictorInput& input, int64_t length) const {
  SeriesSource source = options_.source.data;
  (source.events.empty() ? source.file : source.events) = input.text;
  source.generate.reset();
  source.keep = 1.0;
  ForecastData made;
  made.about = read_series(source, options_.seed);
  require<DataError>(made.about.channels == training_.about.channels,
                     "{} has the channels {}, and the model was trained on {}", input.where,
                     join(made.about.channels, ", "), join(training_.about.channels, ", "));
  std::vector<Series> read;
  read.swap(made.about.series);
  for (auto& series : read) {
    const auto like = std::find_if(training_.series.begin(), training_.series.end(),
                                   [&](const ForecastSeries& one) { return one.data.name == series.name; });
    require<DataError>(like != training_.series.end(),
                       "{}: {} is none of the series that the model was trained on, whose means and deviations scale "
                       "what it reads",
                       input.where, shown(series.name));
    require<DataError>(series.rows() >= length, "{}: {}{} rows, and the model reads the last {} (train.length)",
                       input.where, series.name.empty() ? "" : series.name + " has ", series.rows(), length);
    made.series.push_back(continued(std::move(series), made.about, *like));
  }
  return made;
}

std::vector<Json> ForecastPredictor::predict(Model& model, std::span<const PredictorInput> inputs,
                                             int64_t length) const {
  ORDO_ASSERT(!model.is_training());
  const c10::NoGradGuard no_gradients;
  std::vector<Json> all;
  for (const auto& input : inputs) {
    const ForecastData data = read(input, length);
    std::vector<ForecastWindow> windows;
    for (size_t s = 0; s < data.series.size(); ++s) {
      const int64_t end = data.series[s].data.rows() - options_.aim.steps();
      windows.push_back({.series = s, .end = end, .target = end});
    }
    const ForecastRows rows(data, options_.aim, windows,
                            {.context = length, .joint = options_.joint, .times = options_.times});
    std::vector<uint64_t> numbers(static_cast<size_t>(rows.count()));
    std::iota(numbers.begin(), numbers.end(), 0);
    const Batch there = to_device(rows.batch(numbers), model.head().weight().device());
    all.push_back(told(data, rows, options_.tell(model, there).to(at::kCPU, at::kDouble).contiguous()));
  }
  return all;
}

// values: row after row, of joint rows step by step with all channels.
Json ForecastPredictor::told(const ForecastData& data, const ForecastRows& rows, const Tensor& values) const {
  const int64_t steps = options_.aim.steps(), channels = data.channels();
  const auto at = values.accessor<double, 2>();
  Json forecast = Json::array();
  for (size_t s = 0; s < data.series.size(); ++s) {
    const ForecastSeries& series = data.series[s];
    const int64_t first = series.data.rows() - steps, begin = static_cast<int64_t>(s) * rows.rows_a_window();
    for (int64_t step = 0; step < steps; ++step) {
      Json one = Json::object();
      if (data.series.size() > 1) one["series"] = series.data.name;
      if (data.about.dated)
        one["time"] = moment_text(series.data.times[static_cast<size_t>(first + step)]);
      else
        one["row"] = std::llround(series.data.times[static_cast<size_t>(first + step)]) + 1;
      for (int64_t c = 0; c < channels; ++c) {
        const double standard = options_.joint ? at[begin][step * channels + c] : at[begin + c][step];
        const auto i = static_cast<size_t>(c);
        const double own = standard * series.deviation[i] + series.mean[i];
        const double value = options_.source.data.values == SeriesValues::log ? std::exp(own) : own;
        require<NumericError>(std::isfinite(value),
                              "{}: what the model tells of '{}', {} row{} ahead, is not finite ({})", data.about.source,
                              shown(data.about.channels[i]), step + 1, step == 0 ? "" : "s", value);
        one[data.about.channels[i]] = value;
      }
      forecast.push_back(std::move(one));
    }
  }
  return {{"forecast", std::move(forecast)}};
}

std::string ForecastPredictor::line(const Json& told, const PredictorInput& input) const {
  Table table({});
  for (const auto& one : told["forecast"]) {
    std::vector<std::string> cells{"  " + (one.contains("series") ? one["series"].get<std::string>() : "")};
    cells.push_back(one.contains("time") ? one["time"].get<std::string>()
                                         : fmt::format("row {}", one["row"].get<int64_t>()));
    for (const auto& channel : training_.about.channels)
      cells.push_back(fmt::format("{} {}", channel, decimal_text(one[channel].get<double>())));
    table.row(cells);
  }
  return input.text + "\n" + table.text();
}

}  // namespace ordo
