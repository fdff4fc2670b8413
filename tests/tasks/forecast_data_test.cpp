// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/forecast_data.h"

#include <cmath>

#include "ordo/core/errors.h"
#include "ordo/tasks/forecast_scores.h"
#include "support/data_sets.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

ForecastData forecast_data_of(const Scratch& scratch, const std::string& text, ForecastSource source) {
  source.data.file = scratch.write("a.csv", text);
  return read_forecast_data(source, 1);
}

// One channel: 0, 1, 2, …, each row an hour after the one before.
std::string hours(int rows) {
  std::string text = "date,x\n";
  for (int i = 0; i < rows; ++i) text += fmt::format("2016-07-{:02} {:02}:00,{}\n", 1 + i / 24, i % 24, i);
  return text;
}

// Ends and targets of the windows of a split.
std::vector<std::pair<int64_t, int64_t>> places(const ForecastData& data, const ForecastAim& aim, Split split,
                                                int64_t context) {
  std::vector<std::pair<int64_t, int64_t>> found;
  for (const auto& window : forecast_windows(data, aim, split, context)) found.emplace_back(window.end, window.target);
  return found;
}

using Places = std::vector<std::pair<int64_t, int64_t>>;

}  // namespace

TEST_CASE("forecasts: rows are divided one part after the other, and scaled by those of training alone", "[unit]") {
  const Scratch scratch;
  const auto data = forecast_data_of(scratch, hours(10), {.data = {.date = "date"}, .rows = SplitRows{4, 3, 2}});
  const ForecastSeries& series = data.series[0];
  CHECK(series.parts[1].begin == 4);
  CHECK(series.parts[1].end == 7);
  CHECK(series.parts[2].end == 9);
  CHECK(series.mean[0] == Approx(1.5));
  CHECK(series.deviation[0] == Approx(std::sqrt(1.25)));
  CHECK(series.value(9, 0) == Approx(7.5 / std::sqrt(1.25)));
  CHECK(series.step == 3600.0);
  const auto shares = forecast_data_of(scratch, hours(20), {.data = {.date = "date"}, .scale = false});
  CHECK(shares.series[0].parts[0].rows() == 14);
  CHECK(shares.series[0].parts[1].rows() == 2);
  CHECK(shares.series[0].parts[2].rows() == 4);
  CHECK(shares.series[0].value(7, 0) == 7.0);
}

TEST_CASE("forecasts: targets lie in their split, contexts may begin before it", "[unit]") {
  const Scratch scratch;
  const auto data = forecast_data_of(scratch, hours(12), {.data = {.date = "date"}, .rows = SplitRows{6, 3, 3}});
  CHECK(places(data, {.horizon = 2}, Split::train, 3) == Places{{3, 3}, {4, 4}});
  CHECK(places(data, {.horizon = 2}, Split::validation, 3) == Places{{6, 6}, {7, 7}});
  CHECK(places(data, {.horizon = 3}, Split::test, 3) == Places{{9, 9}});
  CHECK(places(data, {.horizon = 4}, Split::test, 3).empty());
}

TEST_CASE("forecasts: the row asked for is the one nearest to a time ahead, if one is near enough", "[unit]") {
  const Scratch scratch;
  // Minutes 0, 5, 10, 15, 50, 55, 60, 66, 70.
  std::string text = "date,x\n";
  for (const int minute : {0, 5, 10, 15, 50, 55, 60, 66, 70})
    text += fmt::format("2016-07-01 {:02}:{:02},{}\n", minute / 60, minute % 60, minute);
  const auto data = forecast_data_of(scratch, text, {.data = {.date = "date"}, .rows = SplitRows{9, 0, 0}});
  const ForecastAim aim{.ahead = 600.0, .tolerance = 120.0};
  // From minute 5 to 15, not from 10 or 15 (20 and 25 are in the gap); from 50 to 60, 55 to 66 (11 minutes), 60 to 70.
  CHECK(places(data, aim, Split::train, 2) == Places{{2, 3}, {5, 6}, {6, 7}, {7, 8}});
  const auto windows = forecast_windows(data, aim, Split::train, 2);
  CHECK_FALSE(windows[0].gap);
  CHECK(windows[1].gap);  // of its context, minute 15 to 50
  CHECK_FALSE(windows[2].gap);
}

TEST_CASE("forecasts: what cannot be scaled or divided is told", "[unit]") {
  const Scratch scratch;
  const std::string constant = "x,y\n1,1\n2,1\n3,1\n4,2\n";
  CHECK(contains(thrown<DataError>([&] {
                   forecast_data_of(scratch, constant, {.rows = SplitRows{3, 0, 1}});
                 }),
                 "channel 'y' is constant over its 3 training rows"));
  CHECK_NOTHROW(forecast_data_of(scratch, constant, {.rows = SplitRows{3, 0, 1}, .scale = false}));
  CHECK(contains(thrown<DataError>([&] {
                   forecast_data_of(scratch, constant, {.rows = SplitRows{3, 1, 1}});
                 }),
                 "a.csv has 4 rows, fewer than task.rows asks for: 3 of training, 1 of validation and 1 of test"));
}

TEST_CASE("forecasts: a channel that never changes is told, whatever its value", "[unit]") {
  const Scratch scratch;
  const auto told = [&](const std::string& value, const std::string& last) {
    std::string text = "x\n";
    for (int i = 0; i < 79; ++i) text += value + "\n";
    return thrown<DataError>([&] { forecast_data_of(scratch, text + last + "\n", {.rows = SplitRows{80, 0, 0}}); });
  };
  for (const std::string value : {"0", "0.5", "0.1", "0.3", "1234.567", "1e-5", "1e30", "-1e-300", "1e300"}) {
    INFO(value);
    CHECK(contains(told(value, value), "channel 'x' is constant over its 80 training rows, so that it cannot be"));
  }
  CHECK(contains(told("0.3", "0.30000000000000004"), "channel 'x' is constant over its 80 training rows but for"));
}

TEST_CASE("forecasts: values are scaled however small they are", "[unit]") {
  const Scratch scratch;
  const auto scaled = [&](const std::string& text) {
    return forecast_data_of(scratch, text, {.rows = SplitRows{4, 0, 0}}).series[0];
  };
  const ForecastSeries plain = scaled("x\n1\n2\n3\n5\n"), tiny = scaled("x\n1e-300\n2e-300\n3e-300\n5e-300\n");
  for (int64_t row = 0; row < 4; ++row) CHECK(tiny.value(row, 0) == Approx(plain.value(row, 0)));
  CHECK(tiny.deviation[0] / 1e-300 == Approx(plain.deviation[0]));
}

TEST_CASE("forecasts: training without a value, or without a row, is told as such", "[unit]") {
  const Scratch scratch;
  const auto told = [&](const std::string& text, const ForecastSource& source) {
    return thrown<DataError>([&] { forecast_data_of(scratch, text, source); });
  };
  for (const auto missing : {MissingCells::interpolate, MissingCells::previous, MissingCells::mask})
    CHECK(contains(told("x,y\n1,\n2,\n3,4\n4,5\n", {.data = {.missing = missing}, .rows = SplitRows{2, 0, 2}}),
                   "a.csv: channel 'y' has no value in its 2 training rows, so that it cannot be scaled"));
  CHECK(contains(told(hours(20), {.data = {.date = "date", .keep = 1e-9}}),
                 "a.csv: 0 rows here (20 were left out: task.data.keep), and none of them is for training"));
  CHECK(contains(told("x\n1\n", {.data = {.values = SeriesValues::differences}}),
                 "a.csv: 0 rows here, and none of them is for training"));
  CHECK(contains(told("who,x\nann,1\nann,2\nben,3\n", {.data = {.group = "who"}, .shares = SplitShares{0.0, 0.0}}),
                 "a.csv, ben: channel 'x' is constant over its 1 training row, so"));
}

TEST_CASE("forecasts: a value that no float holds in standard units is told with its line", "[unit]") {
  const Scratch scratch;
  const std::string text = "x\n1\n2\n3\n1e39\n";
  for (const bool scale : {true, false})
    CHECK(contains(thrown<DataError>([&] {
                     forecast_data_of(scratch, text, {.rows = SplitRows{3, 0, 1}, .scale = scale});
                   }),
                   "a.csv: line 5: channel 'x': 1e+39 is more than a model can read"));
}

TEST_CASE("forecasts: naive ones are judged on the same windows", "[unit]") {
  const Scratch scratch;
  // 0 1 0 1 …, then 5: persistence errs by 1 at every step ahead, the season of 2 by nothing but the 5.
  const auto data =
      forecast_data_of(scratch, "x\n0\n1\n0\n1\n0\n1\n0\n5\n", {.rows = SplitRows{4, 0, 4}, .scale = false});
  const ForecastAim aim{.horizon = 2};
  const auto windows = forecast_windows(data, aim, Split::test, 2);
  REQUIRE(windows.size() == 3);
  const Metrics metrics = baseline_metrics(data, aim, windows, 2);
  // Contexts end in 1, 0, 1; what comes is (0, 1), (1, 0), (0, 5).
  CHECK(metrics.at("persistence_mse") == Approx((1.0 + 0.0 + 1.0 + 0.0 + 1.0 + 16.0) / 6.0));
  CHECK(metrics.at("persistence_mae") == Approx((1.0 + 0.0 + 1.0 + 0.0 + 1.0 + 4.0) / 6.0));
  CHECK(metrics.at("seasonal_mse") == Approx(16.0 / 6.0));
  CHECK(metrics.at("mean_mae") == Approx((0.0 + 1.0 + 1.0 + 0.0 + 0.0 + 5.0) / 6.0));
  CHECK_FALSE(baseline_metrics(data, aim, windows, 0).contains("seasonal_mse"));
  CHECK(contains(baseline_sentence(metrics, 2), "seasonal naive (2 rows before) 2.6667 / 0.6667"));
}

TEST_CASE("forecasts: of values that are changes, persistence is no change", "[unit]") {
  const Scratch scratch;
  const ForecastSource source{.data = {.values = SeriesValues::differences}, .rows = SplitRows{4, 0, 2}};
  const auto data = forecast_data_of(scratch, "x\n0\n1\n4\n4\n8\n9\n11\n", source);
  const auto windows = forecast_windows(data, {.horizon = 1}, Split::test, 1);
  const double deviation = data.series[0].deviation[0];  // of the changes 1, 3, 0, 4; those of test are 1 and 2
  CHECK(baseline_metrics(data, {.horizon = 1}, windows, 0).at("persistence_mae") == Approx(1.5 / deviation));
}

TEST_CASE("forecasts: ETTh1's naive figures are those of its protocol to four digits", "[slow]") {
  const auto file = data_set("ett/ETTh1.csv.gz");
  if (!file) return;
  const auto data =
      read_forecast_data({.data = {.file = *file, .date = "date"}, .rows = SplitRows{8640, 2880, 2880}}, 1);
  const ForecastAim aim{.horizon = 96};
  const auto windows = forecast_windows(data, aim, Split::test, 96);
  REQUIRE(windows.size() == 2785);
  const Metrics metrics = baseline_metrics(data, aim, windows, 24);
  const auto four = [&](const char* name) { return fmt::format("{:.4f}", metrics.at(name)); };
  CHECK(four("persistence_mse") == "1.2944");
  CHECK(four("persistence_mae") == "0.7132");
  CHECK(four("seasonal_mse") == "0.5122");
  CHECK(four("seasonal_mae") == "0.4333");
}

}  // namespace ordo::test
