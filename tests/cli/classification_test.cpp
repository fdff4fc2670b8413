// SPDX-License-Identifier: Apache-2.0
// Classification from the command line: trained, resumed, judged in detail, and told what its data lack.
#include "support/catch.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "support/data_sets.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

const std::string kClassRecipes = std::string(ORDO_SOURCE_DIR) + "/configs/tasks/";
const Setting kOneThread{.environment = {"OMP_NUM_THREADS=1"}};

Outcome classify(const std::string& command, const std::string& recipe, const Arguments& more) {
  Arguments words{command, kClassRecipes + recipe, "device=cpu"};
  words.insert(words.end(), more.begin(), more.end());
  return run_ordo(words, kOneThread);
}

Json metrics_of(const fs::path& run, const std::string& split) {
  const Outcome judged = run_ordo({"eval", run.string(), "--split", split, "--json"}, kOneThread);
  INFO(judged.err);
  REQUIRE(judged.code == 0);
  return parse_json(judged.out, "eval --json").at("results").at(0).at("metrics");
}

// Accuracy on the test split of what a recipe makes of the two files of sentence-polarity.
void learns_polarity(const std::string& recipe) {
  const auto against = data_set("sentence-polarity/rt-polarity.neg.gz");
  const auto in_favour = data_set("sentence-polarity/rt-polarity.pos.gz");
  if (!against || !in_favour) return;
  const Scratch scratch;
  const Outcome trained =
      run_ordo({"train", kClassRecipes + recipe, "--quiet", "--run", (scratch / "run").string(), "device=cpu",
                "task.data.by_class.0.files=" + against->string(), "task.data.by_class.1.files=" + in_favour->string()},
               {.environment = {"OMP_NUM_THREADS=1"}, .seconds = 900});
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  CHECK(metrics_of(scratch / "run", "test").at("accuracy").get<double>() >= 0.72);
}

}  // namespace

TEST_CASE("made sentences are classified and tagged after the steps of their recipes", "[cli]") {
  const Scratch scratch;
  for (const std::string task : {"text_classification", "token_classification"}) {
    const Outcome trained = classify("train", task + ".yaml", {"--quiet", "--run", (scratch / task).string()});
    INFO(trained.err);
    REQUIRE(trained.code == 0);
    CHECK(metrics_of(scratch / task, "test").at("accuracy").get<double>() >= 0.99);
  }
}

TEST_CASE("a classification that was stopped goes on to the bytes of one that was not", "[cli]") {
  const Scratch scratch;
  const auto train = [&](const std::string& run, const std::string& steps) {
    return classify(
        "train", "text_classification.yaml",
        {"--quiet", "--run", (scratch / run).string(), "train.steps=" + steps, "model.dropout=0.1",
         "train.schedule.kind=constant", "task.data.generate.sentences=60", "task.data.generate.held_out=9"});
  };
  REQUIRE(train("whole", "6").code == 0);
  REQUIRE(train("parted", "3").code == 0);
  REQUIRE(train("parted", "6").code == 0);
  const auto weights = [&](const char* run) {
    return read_file(scratch / run / "step-00000006" / "model.safetensors");
  };
  CHECK(weights("whole") == weights("parted"));
}

TEST_CASE("what the data of a classification lack is told with file and line, and ends with exit code 3", "[cli]") {
  const Scratch scratch;
  const auto path = scratch.write("a.tsv", "good\tyes\nbad\tno\n\nawful\tno\nfine\tyes\n");
  const Arguments files{"task.data.generate=null", "task.data.train=" + path.string()};
  const Outcome stopped = classify("check", "text_classification.yaml", files);
  CHECK(stopped.code == 3);
  CHECK(contains(stopped.err, "a.tsv: line 3: expected 2 cells, found a blank line"));
  Arguments skipping = files;
  skipping.push_back("task.data.on_bad_line=skip");
  const Outcome skipped = classify("check", "text_classification.yaml", skipping);
  INFO(skipped.err);
  CHECK(skipped.code == 0);
  CHECK(contains(skipped.out, "train: 4 examples"));
  CHECK(contains(skipped.out, "1 line left out"));
}

TEST_CASE("what is left out of the data is warned of in training, and stands beside the figures", "[cli]") {
  const Scratch scratch;
  const auto path = scratch.write("a.tsv", "good\tyes\nbad\tno\n\nawful\tno\nfine\tyes\n");
  const fs::path run = scratch / "run";
  const Outcome trained = classify("train", "text_classification.yaml",
                                   {"--quiet", "--run", run.string(), "task.data.generate=null",
                                    "task.data.train=" + path.string(), "task.data.validation=" + path.string(),
                                    "task.data.on_bad_line=skip", "train.steps=1", "train.schedule.kind=constant"});
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  const std::string said = "2 lines left out: " + path.string() + ": line 3: expected 2 cells, found a blank line";
  CHECK(contains(trained.err, said));
  const std::string log = read_file(run / "log.txt");
  CHECK(contains(log, said));
  const Outcome judged = run_ordo({"eval", run.string()}, kOneThread);
  CHECK(contains(judged.out, said));
  const Json notes = parse_json(run_ordo({"eval", run.string(), "--json"}, kOneThread).out, "eval --json")
                         .at("results")
                         .at(0)
                         .at("notes");
  CHECK(contains(notes.dump(), "2 lines left out"));
}

TEST_CASE("a model that pools is certified", "[cli]") {
  const Outcome proved = classify("certify", "text_classification.yaml", {});
  INFO(proved.out << proved.err);
  CHECK(proved.code == 0);
  CHECK(contains(proved.out, "holds: "));
}

TEST_CASE("a Transformer learns sentence polarity from nothing", "[slow]") {
  learns_polarity("sentence_polarity.yaml");
}
TEST_CASE("an LSTM learns sentence polarity from nothing", "[slow]") { learns_polarity("sentence_polarity_lstm.yaml"); }
TEST_CASE("a CNN learns sentence polarity from nothing", "[slow]") { learns_polarity("sentence_polarity_cnn.yaml"); }

TEST_CASE("a Transformer learns the sentiment of comments of one label", "[slow]") {
  const auto train = data_set("goemotions-sentiment/train.tsv.gz");
  if (!train) return;
  const auto file = [&](const char* name) { return (train->parent_path() / name).string(); };
  const Scratch scratch;
  const Outcome trained =
      run_ordo({"train", kClassRecipes + "goemotions_sentiment.yaml", "--quiet", "--run", (scratch / "run").string(),
                "device=cpu", "task.data.train=" + train->string(), "task.data.validation=" + file("dev.tsv.gz"),
                "task.data.test=" + file("test.tsv.gz"), "task.classes_file=" + file("labels.txt")},
               {.environment = {"OMP_NUM_THREADS=1"}, .seconds = 900});
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  CHECK(metrics_of(scratch / "run", "test").at("accuracy").get<double>() >= 0.60);
}

}  // namespace ordo::test
