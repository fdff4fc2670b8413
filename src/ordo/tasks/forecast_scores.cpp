// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/forecast_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "ordo/config/words.h"
#include "ordo/core/errors.h"
#include "ordo/data/time_stamps.h"
#include "ordo/tasks/measured.h"

namespace ordo {

namespace {

// What is told of a channel of a series, `step` rows behind the first one asked for.
using NaiveForecast =
    std::function<double(const ForecastSeries& series, const ForecastWindow& window, int64_t step, int64_t channel)>;

struct NaiveErrors {
  ErrorSums all, gaps;
};

NaiveErrors errors_of(const ForecastData& data, const ForecastAim& aim, std::span<const ForecastWindow> windows,
                      const NaiveForecast& naive) {
  NaiveErrors errors;
  for (const auto& window : windows) {
    const ForecastSeries& series = data.series[window.series];
    for (int64_t step = 0; step < aim.steps(); ++step)
      for (int64_t c = 0; c < series.channels(); ++c) {
        const double told = naive(series, window, step, c), came = series.actual(window.target + step, c);
        errors.all.add(told, came);
        if (window.gap) errors.gaps.add(told, came);
      }
  }
  return errors;
}

bool some_have_gaps(std::span<const ForecastWindow> windows) {
  const auto gaps = std::count_if(windows.begin(), windows.end(), [](const auto& window) { return window.gap; });
  return gaps > 0 && gaps < std::ssize(windows);
}

std::vector<double> training_values(const ForecastSeries& series, int64_t channel) {
  const RowRange train = series.parts[static_cast<size_t>(Split::train)];
  std::vector<double> values;
  for (int64_t row = train.begin; row < train.end; ++row) values.push_back(series.actual(row, channel));
  return values;
}

}  // namespace

void ErrorSums::add(double predicted, double actual) {
  if (std::isnan(actual)) return;
  const double error = predicted - actual;
  squares += error * error;
  sizes += std::abs(error);
  count += 1.0;
}

Metrics baseline_metrics(const ForecastData& data, const ForecastAim& aim, std::span<const ForecastWindow> windows,
                         int64_t season) {
  Metrics metrics;
  const auto tell = [&](const std::string& name, const NaiveForecast& naive) {
    const NaiveErrors errors = errors_of(data, aim, windows, naive);
    metrics[name + "_mse"] = errors.all.mse();
    metrics[name + "_mae"] = errors.all.mae();
    if (name == "persistence" && some_have_gaps(windows)) metrics["persistence_mse_over_gaps"] = errors.gaps.mse();
  };
  const auto standard = [](const ForecastSeries& series, double own, int64_t c) {
    return (own - series.mean[static_cast<size_t>(c)]) / series.deviation[static_cast<size_t>(c)];
  };
  tell("persistence", [&](const ForecastSeries& series, const ForecastWindow& window, int64_t, int64_t c) {
    return data.changes ? standard(series, 0.0, c) : series.value(window.end - 1, c);
  });
  tell("mean", [&](const ForecastSeries& series, const ForecastWindow&, int64_t, int64_t c) {
    return standard(series, series.mean[static_cast<size_t>(c)], c);
  });
  if (season > 0)
    tell("seasonal", [&](const ForecastSeries& series, const ForecastWindow& window, int64_t step, int64_t c) {
      return series.value(window.end - season + step % season, c);
    });
  return metrics;
}

std::string baseline_sentence(const Metrics& baselines, int64_t season) {
  const auto told = [&](const std::string& name) {
    return fmt::format("{:.4f} / {:.4f}", baselines.at(name + "_mse"), baselines.at(name + "_mae"));
  };
  const std::string seasonal =
      season > 0 ? fmt::format(", seasonal naive ({} rows before) {}", season, told("seasonal")) : "";
  return fmt::format("without a model, on the same windows (MSE / MAE): persistence {}{}, the mean of training {}",
                     told("persistence"), seasonal, told("mean"));
}

// ---- scores ----

ForecastScores::ForecastScores(const ForecastData& data, const ForecastAim& aim,
                               std::span<const ForecastWindow> windows, int64_t context, int64_t season, bool details)
    : data_(data),
      aim_(aim),
      windows_(windows),
      details_(details),
      block_windows_(static_cast<size_t>(context + aim.steps())) {
  if (aim.ahead > 0.0) return;
  for (const auto& series : data.series) {
    auto& channels = naive_.emplace_back();
    for (int64_t c = 0; c < series.channels(); ++c)
      channels.push_back(naive_scale(training_values(series, c), std::max<int64_t>(season, 1)));
  }
}

void ForecastScores::Block::add(double told, double came) {
  predicted.push_back(told);
  actual.push_back(came);
}

void ForecastScores::add(size_t window, int64_t channel, std::span<const double> predicted, const ExampleSet& rows,
                         uint64_t number) {
  if (window / block_windows_ != block_) close_block();
  block_ = window / block_windows_;
  const ForecastWindow& at = windows_[window];
  const ForecastSeries& series = data_.series[at.series];
  const auto c = static_cast<size_t>(channel);
  const double naive = naive_.empty() ? kNoNumber : naive_[at.series][c];
  ErrorSums errors;
  for (size_t step = 0; step < predicted.size(); ++step) {
    const double told = predicted[step], came = series.actual(at.target + static_cast<int64_t>(step), channel);
    if (!std::isfinite(told) && !std::isnan(came))
      throw NumericError(fmt::format("{}: what the model tells of '{}' at line {} is not finite ({})",
                                     rows.name(number), shown(data_.about.channels[c]),
                                     series.data.lines[static_cast<size_t>(at.target) + step], told));
    standard_.add(told, came);
    own_.add(told * series.deviation[c] + series.mean[c], came * series.deviation[c] + series.mean[c]);
    if (naive > 0.0) scaled_.add(told / naive, came / naive);
    errors.add(told, came);
    if (at.gap) gaps_.add(told, came);
  }
  count_ += errors.count;
  if (details_) add_row(at, channel, errors, rows.name(number));
}

void ForecastScores::close_block() {
  constexpr double kInNaiveErrors = 1.0;  // the numbers have been divided by them
  standard_errors_.add(standard_.predicted, standard_.actual);
  own_errors_.add(own_.predicted, own_.actual);
  scaled_errors_.add(scaled_.predicted, scaled_.actual, kInNaiveErrors);
  standard_ = own_ = scaled_ = {};
}

void ForecastScores::add_row(const ForecastWindow& window, int64_t channel, const ErrorSums& errors,
                             const std::string& from) {
  const ForecastSeries& series = data_.series[window.series];
  Json told{{"channel", data_.about.channels[static_cast<size_t>(channel)]}};
  if (!series.data.name.empty()) told["series"] = series.data.name;
  if (data_.about.dated) told["time"] = moment_text(series.data.times[static_cast<size_t>(window.target)]);
  told["mse"] = errors.mse();
  told["mae"] = errors.mae();
  rows_.push_back(example_line(rows_.size(), from, told));
}

Evaluation ForecastScores::evaluation(const StreamOptions& options) {
  close_block();
  Evaluation made{.tokens = count_, .protocol = "sliding", .rows = std::move(rows_)};
  measure(standard_errors_, options, made, [](std::string_view name) { return name == "mse" || name == "mae"; });
  measure(own_errors_, options, made, [](std::string_view name) { return name == "smape"; });
  measure(scaled_errors_, options, made, [](std::string_view name) { return name == "mase"; });
  if (some_have_gaps(windows_)) made.metrics["mse_over_gaps"] = gaps_.mse();
  if (options.details)
    made.notes.push_back(fmt::format(
        "intervals draw blocks of {} windows, as long as a window with what is asked of it: neighbours share rows",
        block_windows_));
  return made;
}

}  // namespace ordo
