// SPDX-License-Identifier: Apache-2.0
// Time series from the command line: a table is read, a model trained and judged beside forecasts without one.
#include "support/catch.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ordo/core/json.h"
#include "support/data_sets.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

const std::string kTaskRecipes = std::string(ORDO_SOURCE_DIR) + "/configs/tasks/";
const std::string kBases = std::string(ORDO_SOURCE_DIR) + "/configs/studies/bases/";
constexpr int kSeriesHours = 300;

// Two channels of a day's rhythm, an hour a row.
std::string rhythm(int rows = kSeriesHours) {
  std::string text = "date,HUFL,OT\n";
  for (int i = 0; i < rows; ++i)
    text += fmt::format("2016-07-{:02} {:02}:00:00,{:.4f},{:.4f}\n", 1 + i / 24, i % 24, std::sin(0.2618 * i),
                        10 + std::cos(0.2618 * i));
  return text;
}

Outcome checked_step(const std::string& recipe, Arguments more) {
  more.insert(more.begin(), {"check", recipe, "device=cpu", "--step"});
  return run_ordo(more);
}

}  // namespace

TEST_CASE("recipes of series are assembled and stepped", "[cli]") {
  const Scratch scratch;
  const std::string table = "task.data.file=" + scratch.write("a.csv", rhythm()).string();
  const std::string rows = "task.rows={train: 220, validation: 40, test: 40}";
  std::string prices = "Ticker,Date,Adj Close\n", passengers = "Date,Passengers\n", log, glucose = "datetime,glucose\n";
  for (int i = 0; i < 150; ++i) {
    prices += fmt::format("AB,{}-{:02}-{:02},{}\n", 2000 + i / 28 / 12, 1 + i / 28 % 12, 1 + i % 28, 100 + i % 7);
    passengers += fmt::format("{}-{:02},{}\n", 1949 + i / 12, 1 + i % 12, 100 + i + 10 * (i % 12));
    log += fmt::format("{} Jan 2017 {:02}:{:02}:00 -0500\n", 1 + i / 20, i % 20, i * i % 60);
    glucose += fmt::format("2010-03-{:02} {:02}:{:02}:00,{}\n", 1 + i / 96, i / 4 % 24, 15 * (i % 4), 100 + i % 9);
  }
  const auto file = [&](const std::string& name, const std::string& text) {
    return (name == "commits.txt" ? "task.data.events=" : "task.data.file=") + scratch.write(name, text).string();
  };
  const std::vector<std::pair<std::string, Arguments>> recipes{
      {kTaskRecipes + "forecasting.yaml", {}},
      {kTaskRecipes + "series_classification.yaml", {}},
      {kTaskRecipes + "etth1.yaml", {table, rows, "task.horizon=24", "train.length=48"}},
      {kTaskRecipes + "etth1_decoder.yaml", {table, rows, "task.horizon=24", "train.length=48"}},
      {kTaskRecipes + "etth1_differences.yaml", {table, rows, "task.horizon=24", "train.length=48"}},
      {kTaskRecipes + "stocks.yaml", {file("stocks.csv", prices), "train.length=8"}},
      {kTaskRecipes + "airline.yaml", {file("airline.csv", passengers)}},
      {kBases + "commits.yaml", {file("commits.txt", log), "train.length=8"}},
      {kBases + "glucose.yaml", {file("glucose.csv", glucose), "train.length=4", "task.data.keep=1"}}};
  for (const auto& [recipe, more] : recipes) {
    const Outcome outcome = checked_step(recipe, more);
    INFO(recipe << "\n" << outcome.out << outcome.err);
    CHECK(outcome.code == 0);
  }
}

TEST_CASE("a table of series is trained on and judged beside forecasts that need no model", "[cli]") {
  const Scratch scratch;
  const std::string run = (scratch / "run").string();
  const Outcome trained = run_ordo({"train", kTaskRecipes + "etth1.yaml", "device=cpu", "--run", run,
                                    "task.data.file=" + scratch.write("a.csv", rhythm()).string(),
                                    "task.rows={train: 220, validation: 40, test: 40}", "task.horizon=8",
                                    "train.length=32", "train.steps=3", "train.schedule=constant", "evaluate.every=3"});
  INFO(trained.out << trained.err);
  REQUIRE(trained.code == 0);
  const Outcome judged = run_ordo({"eval", run, "--split", "test", "--json", "--details"});
  REQUIRE(judged.code == 0);
  const Json result = parse_json(judged.out, "stdout").at("results").at(0);
  CHECK(result.at("metrics").at("seasonal_mse").get<double>() < 0.01);
  CHECK(result.at("metrics").at("persistence_mse").get<double>() > 0.1);
  CHECK(result.at("metrics").contains("mase"));
  CHECK(result.at("tokens") == 2 * 33 * 8);
  const Outcome told = run_ordo({"eval", run});
  CHECK(contains(told.out, "persistence_mae"));
}

TEST_CASE("mistakes in a table of series are told once, with file and line", "[cli]") {
  const Scratch scratch;
  const auto told = [&](const std::string& text, const Arguments& more = {}) {
    Arguments words{"train",
                    kTaskRecipes + "etth1.yaml",
                    "device=cpu",
                    "--run",
                    (scratch / "none").string(),
                    "task.data.file=" + scratch.write("a.csv", text).string(),
                    "task.rows={train: 60, validation: 20, test: 20}",
                    "task.horizon=4",
                    "train.length=24",
                    "train.steps=1",
                    "train.schedule=constant"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_ordo(words);
    INFO(outcome.err);
    CHECK((outcome.code == 2 || outcome.code == 3));
    CHECK(contains(outcome.err, "error: "));
    return outcome.err;
  };
  std::string broken = rhythm(100);
  broken.replace(broken.find("2016-07-02 05"), 10, "2016-07-32");
  CHECK(contains(told(broken), "a.csv: line 31: column 1 ('date'): expected a date"));
  CHECK(contains(told(rhythm(50)), "a.csv has 50 rows, fewer than task.rows asks for"));
  CHECK(contains(told(rhythm(100), {"task.horizon=50"}), "the train split has no window"));
  CHECK(contains(told(rhythm(100), {"task.data.channels=[OTT]"}), "did you mean 'OT'?"));
  CHECK(contains(told(rhythm(100), {"train.label_smoothing=0.1"}), "which forecasting has none of"));
}

TEST_CASE("ETTh1's recipe is ahead of the seasonal naive forecast, as its comment says", "[slow]") {
  const auto file = data_set("ett/ETTh1.csv.gz");
  if (!file) return;
  const Scratch scratch;
  const std::string run = (scratch / "run").string();
  const Outcome trained = run_ordo(
      {"train", kTaskRecipes + "etth1.yaml", "device=cpu", "--run", run, "--quiet", "task.data.file=" + file->string()},
      {.environment = {"OMP_NUM_THREADS=1"}, .seconds = 600.0});
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  const Outcome judged = run_ordo({"eval", run, "--split", "test", "--json"});
  REQUIRE(judged.code == 0);
  const Json metrics = parse_json(judged.out, "stdout").at("results").at(0).at("metrics");
  CHECK(metrics.at("mse").get<double>() < 0.39);
  CHECK(metrics.at("seasonal_mse").get<double>() == Approx(0.5122).margin(5e-5));
}

}  // namespace ordo::test
