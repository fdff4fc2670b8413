// SPDX-License-Identifier: Apache-2.0
// What trained models say of inputs that nobody has judged.
#include "support/catch.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>

#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "support/program.h"
#include "support/signal_files.h"

namespace ordo::test {
namespace {

const Setting kOneThread{.environment = {"OMP_NUM_THREADS=1"}};

std::string trained(const Scratch& scratch, const std::string& task, const Arguments& overrides) {
  const std::string run = (scratch / task).string();
  Arguments words{"train",   std::string(ORDO_SOURCE_DIR) + "/configs/tasks/" + task + ".yaml",
                  "--quiet", "--run",
                  run,       "device=cpu"};
  words.insert(words.end(), overrides.begin(), overrides.end());
  const Outcome outcome = run_ordo(words, kOneThread);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return run;
}

Outcome predicted(Arguments words) {
  words.insert(words.begin(), "predict");
  return run_ordo(words, kOneThread);
}

Json predictions(Arguments words) {
  words.emplace_back("--json");
  const Outcome outcome = predicted(std::move(words));
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return parse_json(outcome.out, "predict --json").at("results");
}

// The lines of `ordo eval --examples`.
std::vector<Json> judged(const Scratch& scratch, const std::string& run) {
  const std::string file = (scratch / "examples.jsonl").string();
  const Outcome outcome = run_ordo({"eval", run, "--split", "test", "--examples", file, "--json"}, kOneThread);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  std::ifstream lines(file);
  std::vector<Json> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(parse_json(line, "examples"));
  return rows;
}

}  // namespace

TEST_CASE("predict gives texts the classes and probabilities that an evaluation gives them", "[cli]") {
  const Scratch scratch;
  const std::string run = trained(scratch, "text_classification", {"train.steps=60", "evaluate.every=60"});
  const auto rows = judged(scratch, run);
  REQUIRE(rows.size() == 200);
  Arguments words{run};
  std::string file;
  for (size_t i = 0; i < 40; ++i) {
    words.push_back(rows[i]["text"]);
    file += rows[i]["text"].get<std::string>() + "\n";
  }
  const Json found = predictions(words);
  REQUIRE(found.size() == 40);
  for (size_t i = 0; i < 40; ++i) {
    CHECK(found[i]["input"] == rows[i]["text"]);
    CHECK(found[i]["class"] == rows[i]["predicted"]);
    for (const auto& [name, probability] : rows[i]["probabilities"].items())
      CHECK(found[i]["probabilities"][name].get<double>() == Approx(probability.get<double>()).margin(1e-5));
  }
  const std::string path = scratch.write("texts.txt", file).string();
  const Outcome lines = predicted({run, "--file", path, "--batch", "7"});
  CHECK(std::count(lines.out.begin(), lines.out.end(), '\n') == 40);
  CHECK(lines.out.find("  " + rows[0]["predicted"].get<std::string>() + "  " + rows[0]["text"].get<std::string>()) ==
        5);
}

TEST_CASE("predict tags the words of a sentence as an evaluation does", "[cli]") {
  const Scratch scratch;
  const std::string run = trained(scratch, "token_classification", {"train.steps=60", "evaluate.every=60"});
  const auto rows = judged(scratch, run);
  Arguments words{run};
  for (size_t i = 0; i < 10; ++i) {
    std::string sentence;
    for (const auto& word : rows[i]["words"]) sentence += (sentence.empty() ? "" : " ") + word.get<std::string>();
    words.push_back(sentence);
  }
  const Json found = predictions(words);
  for (size_t i = 0; i < 10; ++i) CHECK(found[i]["tags"] == rows[i]["predicted"]);
  const std::string first = rows[0]["words"][0].get<std::string>() + "/" + rows[0]["predicted"][0].get<std::string>();
  CHECK(predicted({run, words[1]}).out.starts_with(first + " "));
}

TEST_CASE("predict says what it cannot take, and where", "[cli]") {
  const Scratch scratch;
  const std::string run =
      trained(scratch, "text_classification", {"train.steps=2", "evaluate.every=2", "train.schedule=constant"});
  const auto refused = [&](const Arguments& words, int code) {
    const Outcome outcome = predicted(words);
    CHECK(outcome.code == code);
    CHECK(outcome.out.empty());
    return outcome.err;
  };
  CHECK(refused({run}, 2).find("nothing to judge: give a text") != std::string::npos);
  CHECK(refused({run, "anna", " "}, 3).find("input 2") != std::string::npos);
  std::string text = "anna";
  for (int i = 0; i < 40; ++i) text += " anna";
  CHECK(refused({run, text}, 3).find("41 tokens") != std::string::npos);
  CHECK(refused({run, "a\xFF"}, 3).find("not valid UTF-8 at byte 1") != std::string::npos);
  CHECK(refused({run, "--file", (scratch / "none.txt").string()}, 3).find("none.txt") != std::string::npos);
  const std::string writer =
      trained(scratch, "reverse", {"train.steps=1", "evaluate.every=1", "train.schedule=constant"});
  CHECK(refused({writer, "1 2"}, 2).find("takes no inputs") != std::string::npos);
}

TEST_CASE("predict reads images and sounds as an evaluation does, file by file", "[cli]") {
  const Scratch scratch;
  std::vector<std::string> pictures, sounds;
  for (int i = 0; i < 12; ++i) {  // dark and bright squares, low and high tones
    const bool second = i % 2 == 1;
    const std::string pixels(64, static_cast<char>((second ? 180 : 20) + 3 * i));
    pictures.push_back(
        scratch.write(fmt::format("images/{}/{}.png", second ? "bright" : "dark", i), png_file(8, 8, 1, pixels))
            .string());
    sounds.push_back(scratch
                         .write(fmt::format("sounds/{}/{}.wav", second ? "high" : "low", i),
                                wav_file(tone(second ? 1800.0 + 20.0 * i : 300.0 + 10.0 * i, 1600)))
                         .string());
  }
  const auto as_judged = [&](const std::string& task, const std::string& folder,
                             const std::vector<std::string>& files) {
    const std::string data = (scratch / folder).string();
    const std::string run = trained(scratch, task,
                                    {"task.data.generate=null", "task.data.train=" + data, "task.data.test=" + data,
                                     "train.steps=20", "train.batch_size=6", "evaluate.every=20"});
    Arguments words{run};
    words.insert(words.end(), files.begin(), files.end());
    std::map<std::string, Json> found;
    for (const Json& one : predictions(words)) found[one["input"]] = one;
    const auto rows = judged(scratch, run);
    CHECK(rows.size() == files.size());
    for (const Json& row : rows) {
      const Json& one = found.at(row["from"]);
      CHECK(one["class"] == row["predicted"]);
      CHECK(one["probability"].get<double>() ==
            Approx(row["probabilities"][row["predicted"].get<std::string>()].get<double>()).margin(1e-5));
    }
    return run;
  };
  const std::string images = as_judged("image_classification", "images", pictures);
  as_judged("audio_classification", "sounds", sounds);
  const std::string small = scratch.write("small.png", png_file(4, 4, 1, std::string(16, 'a'))).string();
  const Outcome refused = predicted({images, pictures[0], small});
  CHECK(refused.code == 3);
  CHECK(refused.err.find("small.png: expected images of 1 channel, 8 rows and 8 columns, as in training") !=
        std::string::npos);
}

TEST_CASE("predict goes on behind the end of a series, in its own units and times", "[cli]") {
  const Scratch scratch;
  std::string table = "date,level\n";
  for (int day = 0; day < 200; ++day)
    table += fmt::format("2024-01-01 {:02}:{:02}:00,{}\n", day / 60, day % 60, 1000 + (day % 10 < 5 ? 50 : -50));
  const std::string file = scratch.write("levels.csv", table).string();
  const std::string run =
      trained(scratch, "forecasting",
              {"task.data.generate=null", "task.data.file=" + file, "task.data.date=date", "train.steps=150",
               "train.length=20", "evaluate.every=150", "task.horizon=3", "task.season=10"});
  const Json forecast = predictions({run, file})[0]["forecast"];
  REQUIRE(forecast.size() == 3);
  CHECK(forecast[0]["time"] == "2024-01-01 03:20:00");
  CHECK(forecast[2]["time"] == "2024-01-01 03:22:00");
  for (const Json& row : forecast) CHECK(row["level"].get<double>() == Approx(1050.0).margin(25.0));
  CHECK(predicted({run, file}).out.find("2024-01-01 03:21:00  level 10") != std::string::npos);
  const std::string other = scratch.write("other.csv", "date,height\n2024-01-01,3\n2024-01-02,4\n").string();
  CHECK(predicted({run, other}).err.find("has the channels height, and the model was trained on level") !=
        std::string::npos);
}

TEST_CASE("predict reads a series as numbers apart by commas", "[cli]") {
  const Scratch scratch;
  const std::string run = trained(scratch, "series_classification",
                                  {"train.steps=2", "train.length=32", "evaluate.every=2", "train.schedule=constant"});
  std::string row = "0.5";
  for (int i = 1; i < 32; ++i) row += i % 7 < 3 ? ", 1" : ", -1";
  const std::string file = scratch.write("rows.csv", row + "\n" + row + "\n").string();
  const Json found = predictions({run, "--file", file});
  REQUIRE(found.size() == 2);
  CHECK(found[0]["probability"] == found[1]["probability"]);
  CHECK(predicted({run, "--file", scratch.write("short.csv", "1, 2\n").string()})
            .err.find("short.csv: line 1: expected") != std::string::npos);
  CHECK(predicted({run, "1, x"}).err.find("input 1: expected numbers apart by commas, found ' x'") !=
        std::string::npos);
}

TEST_CASE("predict reads an image of a table as its pixels, and months follow the calendar", "[cli]") {
  const Scratch scratch;
  const std::string digits = scratch.write("digits.csv", digits_table(60)).string();
  const std::string run = trained(scratch, "image_classification",
                                  {"task.data.generate=null", "task.data.train=" + digits, "task.data.test=" + digits,
                                   "train.steps=2", "train.schedule=constant", "evaluate.every=2"});
  const std::string row = digits_table(8);
  const size_t from = row.rfind('\n', row.size() - 2) + 1, label = row.rfind(',');  // the last row, but its label
  const Json found = predictions({run, row.substr(from, label - from)});
  CHECK(found[0]["probability"].get<double>() ==
        Approx(judged(scratch, run)[7]["probabilities"][found[0]["class"].get<std::string>()].get<double>())
            .margin(1e-5));

  std::string table = "month,riders\n";
  for (int month = 0; month < 60; ++month)
    table += fmt::format("{}-{:02},{}\n", 2010 + month / 12, month % 12 + 1, 100 + month % 12);
  const std::string file = scratch.write("riders.csv", table).string();
  const std::string series =
      trained(scratch, "forecasting",
              {"task.data.generate=null", "task.data.file=" + file, "task.data.date=month", "train.steps=2",
               "train.schedule=constant", "train.length=16", "evaluate.every=2", "task.horizon=3", "task.season=0"});
  const Json forecast = predictions({series, file})[0]["forecast"];
  CHECK(forecast[1]["time"] == "2015-02-01 00:00:00");
  CHECK(forecast[2]["time"] == "2015-03-01 00:00:00");
}

TEST_CASE("predict warns of words that the vocabulary has not, and reads standard input", "[cli]") {
  const Scratch scratch;
  const std::string run =
      trained(scratch, "text_classification", {"train.steps=2", "evaluate.every=2", "train.schedule=constant"});
  Setting typed = kOneThread;
  typed.input = "anna sees\nanna xyzzy\n";
  const Outcome outcome = run_ordo({"predict", run, "--file", "-"}, typed);
  CHECK(outcome.code == 0);
  CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') == 2);
  CHECK(outcome.err.find("line 2: 1 of 2 tokens stands for words that the vocabulary has not") != std::string::npos);
}

}  // namespace ordo::test
