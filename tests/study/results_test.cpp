// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <cmath>

#include "made_study.h"
#include "ordo/core/text.h"
#include "ordo/study/run_reader.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

constexpr const char* kRunConfig = R"(name: run
seed: {seed}
task: {kind: language_modeling, tokenizer: char, data: {generate: {kind: chase, sentences: 20, held_out: 5}}}
model: {kind: decoder, dim: 16, layers: 1, attention: {heads: 2}, position: {position}}
train: {steps: 4, batch_size: 2, length: 16, optimizer: {kind: adamw, lr: {lr}}}
)";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  text.replace(text.find(what), what.size(), by);
  return text;
}

std::string config_text(const std::string& position, int64_t seed, const std::string& lr = "1e-3") {
  const std::string text = replaced(replaced(kRunConfig, "{position}", position), "{lr}", lr);
  return replaced(text, "{seed}", std::to_string(seed));
}

// What a training and an evaluation leave in a run's folder.
void leave_run(const fs::path& folder, const std::string& status, double accuracy) {
  fs::create_directories(folder / "step-00000004");
  write_file(folder / "status.json",
             R"({"hash":"h1","status":")" + status + R"(","why":"","attempts":1,"seconds":2.5})");
  write_file(
      folder / "metrics.jsonl",
      R"({"kind":"train","step":1,"tokens":32,"loss":3.5,"tokens_per_second":100,"seconds":1,"peak_memory":5e6})"
      "\n"
      R"({"kind":"train","step":3,"tokens":96,"loss":null,"tokens_per_second":120,"seconds":2,"peak_memory":6e6})"
      "\n"
      R"({"kind":"eval","step":2,"split":"validation","length":16,"metrics":{"loss":3.0},"tokens":9,)"
      R"("protocol":"non_overlapping","best":true})"
      "\n"
      R"({"kind":"eval","step":4,"split":"validation","length":16,"metrics":{"loss":3.2},"tokens":9,)"
      R"("protocol":"non_overlapping","best":false})"
      "\n{\"kind\":\"tra");
  write_file(folder / "last", "step-00000004\n");
  write_file(folder / "step-00000004/state.json", R"({"step":4,"tokens":128,"data_order":"xxh3:abc"})");
  write_file(folder / "start.json", R"({"parameters":1000,"flops_per_token":10,"weights":{"w":"xxh3:1"}})");
  write_file(folder / "evaluation.json",
             fmt::format(R"({{"results":[{{"run":"r","checkpoint":"step-00000004","split":"test","length":16,)"
                         R"("protocol":"whole_examples","metrics":{{"accuracy":{},"loss":null}},"tokens":4,)"
                         R"("items":[1,0.5],"twins":2,"position_loss":[0.1,null]}},)"
                         R"({{"run":"r","checkpoint":"step-00000004","split":"test","length":32,)"
                         R"("metrics":null,"refused":"too long"}}],"overrides":[]}})",
                         accuracy));
}

Plan one_run(const std::string& hash = "h1") {
  Plan plan;
  plan.study.compare.metric = "accuracy";
  plan.study.vary.push_back({.name = "encoding"});
  plan.runs.push_back({.folder = "runs/rope-seed1",
                       .hash = hash,
                       .levels = {{"encoding", "rope"}},
                       .seed = 1,
                       .split = "test",
                       .lengths = {16, 32}});
  return plan;
}

}  // namespace

TEST_CASE("results: a finished run gives its facts, its curves and a row for each length", "[unit]") {
  const Scratch folder;
  leave_run(folder.path() / "runs/rope-seed1", "done", 0.75);
  const Results results = read_results(folder.path(), one_run());
  const RunFacts& facts = results.runs.at(0);
  CHECK(facts.status == RunStatus::done);
  CHECK(facts.steps == 4);
  CHECK(facts.tokens == 128);
  CHECK(facts.seconds == 2.5);
  CHECK(facts.parameters == 1000);
  CHECK(facts.flops == 1280.0);
  CHECK(facts.peak_memory == 6e6);
  CHECK(facts.data_order == "xxh3:abc");
  CHECK(facts.train_curve.size() == 2);
  CHECK(std::isnan(facts.train_curve.at(1).second));
  CHECK(facts.validation_curve.at(1).second.at("loss") == 3.2);

  REQUIRE(results.rows.size() == 2);
  const ResultRow& row = results.rows[0];
  CHECK(row.metrics.at("accuracy") == 0.75);
  CHECK(std::isnan(row.metrics.at("loss")));
  CHECK(row.item_accuracy == std::vector<double>{1.0, 0.5});
  CHECK(row.twins == 2);
  CHECK(row.position_loss.size() == 2);
  CHECK(results.rows[1].refused == "too long");
  CHECK(results.rows[1].metrics.empty());
}

TEST_CASE("results: what another plan left in a run's folder is none of its results", "[unit]") {
  const Scratch folder;
  leave_run(folder.path() / "runs/rope-seed1", "done", 0.75);
  const Results results = read_results(folder.path(), one_run("another"));
  CHECK(results.runs.at(0).status == RunStatus::missing);
  CHECK(results.runs.at(0).parameters == 0);
  CHECK(results.rows.at(0).metrics.empty());
}

TEST_CASE("results: runs that are not there are missing, one row a length", "[unit]") {
  const Scratch folder;
  const Results results = read_results(folder.path(), one_run());
  CHECK(results.runs.at(0).status == RunStatus::missing);
  CHECK(results.rows.size() == 2);
  CHECK(results.rows[1].length == 32);
  CHECK(results.rows[1].split == "test");
}

TEST_CASE("results: a diverged run keeps its facts and has no metrics", "[unit]") {
  const Scratch folder;
  leave_run(folder.path() / "runs/rope-seed1", "diverged", 0.75);
  const Results results = read_results(folder.path(), one_run());
  CHECK(results.runs.at(0).status == RunStatus::diverged);
  CHECK(results.runs.at(0).steps == 4);
  CHECK(results.rows.at(0).metrics.empty());
}

TEST_CASE("results: a scaling has a file and rows of its own", "[unit]") {
  const Scratch folder;
  const fs::path run = folder.path() / "runs/rope-seed1";
  leave_run(run, "done", 0.75);
  fs::copy_file(run / "evaluation.json", run / "evaluation-2.json");
  Plan plan = one_run();
  plan.study.evaluate.scaling_names = {"ntk", "yarn"};
  plan.runs[0].scalings = {2};
  const Results results = read_results(folder.path(), plan);
  REQUIRE(results.rows.size() == 4);
  CHECK(results.rows[2].scaling == "yarn");
  CHECK(results.rows[2].metrics.at("accuracy") == 0.75);
}

TEST_CASE("results: a damaged evaluation is refused with the file and what to do", "[unit]") {
  const Scratch folder;
  leave_run(folder.path() / "runs/rope-seed1", "done", 0.75);
  write_file(folder.path() / "runs/rope-seed1/evaluation.json", R"({"results":[{"split":"test"}]})");
  const std::string text = thrown<CheckpointError>([&] { read_results(folder.path(), one_run()); });
  CHECK(contains(text, "evaluation.json is damaged"));
  CHECK(contains(text, "delete the folder"));
}

TEST_CASE("results: shared first weights have one checksum, the others are counted", "[unit]") {
  const Scratch folder;
  Plan plan = one_run();
  plan.study.compare.factor = "encoding";
  plan.runs.push_back(plan.runs[0]);
  plan.runs[1].folder = "runs/learned-seed1";
  plan.runs[1].levels = {{"encoding", "learned"}};
  for (const auto& run : plan.runs) leave_run(folder.path() / run.folder, "done", 0.75);
  write_file(folder.path() / "runs/learned-seed1/start.json",
             R"({"parameters":1001,"flops_per_token":10,"weights":{"w":"xxh3:1","table":"xxh3:2"}})");
  const Results results = read_results(folder.path(), plan);
  CHECK_FALSE(results.runs[0].first_weights.empty());
  CHECK(results.runs[0].first_weights == results.runs[1].first_weights);
  CHECK(results.runs[0].unpaired_parameters == 0);
  CHECK(results.runs[1].unpaired_parameters == 1);
}

TEST_CASE("results.csv: one row a run, length and scaling, quoted as RFC 4180 says", "[unit]") {
  MadeStudy study("accuracy", {"a, \"b\""}, 2);
  study.give("a, \"b\"", {0.5, 0.25});
  study.run("a, \"b\"", 1).steps = 400;
  study.run("a, \"b\"", 1).flops = 1.5e9;
  study.lose("a, \"b\"", 2);
  const auto lines = split(results_csv(study.plan, study.results), '\n');
  REQUIRE(lines.size() == 4);  // the last one is empty
  CHECK(lines[0] ==
        "encoding,seed,instance,scaling,split,protocol,length,accuracy,steps,tokens,seconds,parameters,flops,status,"
        "run\r");
  CHECK(lines[1] ==
        "\"a, \"\"b\"\"\",1,,,test,whole_examples,16,0.5,400,,,,1500000000,done,\"runs/a, \"\"b\"\"-seed1\"\r");
  CHECK(contains(lines[2], ",16,,,,,,,missing,"));
  CHECK(lines[3].empty());
}

TEST_CASE("results: any runs become a study of what their configs differ in", "[unit]") {
  const Scratch folder;
  std::vector<fs::path> runs;
  for (const char* position : {"rope", "alibi"})
    for (const int64_t seed : {1, 2}) {
      runs.push_back(folder.path() / fmt::format("{}-{}", position, seed));
      leave_run(runs.back(), "done", 0.75);
      write_file(runs.back() / "config.yaml", config_text(position, seed));
    }
  const RunsInput input = results_of_runs(runs);
  REQUIRE(input.plan.study.vary.size() == 1);
  CHECK(input.plan.study.vary[0].name == "position");
  CHECK(input.plan.runs[0].levels == Combination{{"position", "rope"}});
  CHECK(input.plan.runs[3].levels == Combination{{"position", "alibi"}});
  CHECK(input.plan.study.seeds == std::vector<int64_t>{1, 2});
  CHECK(input.plan.study.compare.metric == "loss");
  const Summary summary = summarise(input.plan, input.results);
  CHECK(summary.complete);
  CHECK(summary.pairs.size() == 1);
}

TEST_CASE("results: settings that vary on their own are factors of their own", "[unit]") {
  const Scratch folder;
  std::vector<fs::path> runs;
  for (const char* position : {"rope", "alibi"})
    for (const char* lr : {"1e-3", "2e-3"}) {
      runs.push_back(folder.path() / fmt::format("{}-{}", position, lr));
      leave_run(runs.back(), "done", 0.75);
      write_file(runs.back() / "config.yaml", config_text(position, 1, lr));
    }
  const RunsInput input = results_of_runs(runs);
  REQUIRE(input.plan.study.vary.size() == 2);
  CHECK(input.plan.runs[1].levels == Combination{{"position", "rope"}, {"lr", "0.002"}});
}

TEST_CASE("results: runs of equal settings and seed are told apart by their number", "[unit]") {
  const Scratch folder;
  std::vector<fs::path> runs;
  for (const char* name : {"a", "b"}) {
    runs.push_back(folder.path() / name);
    leave_run(runs.back(), "done", 0.75);
    write_file(runs.back() / "config.yaml", config_text("rope", 1));
  }
  CHECK(results_of_runs(runs).plan.runs[1].levels == Combination{{"repeat", "2"}});
}

TEST_CASE("results: a run without an evaluation of its own is judged by the best one of its training", "[unit]") {
  const Scratch folder;
  const fs::path run = folder.path() / "run";
  leave_run(run, "done", 0.75);
  fs::remove(run / "evaluation.json");
  fs::remove(run / "status.json");
  write_file(run / "config.yaml", config_text("rope", 1));
  const std::vector<fs::path> runs{run};
  const RunsInput input = results_of_runs(runs);
  REQUIRE(input.results.rows.size() == 1);
  CHECK(input.results.rows[0].metrics.at("loss") == 3.0);
  CHECK(input.results.runs[0].status == RunStatus::done);
}

TEST_CASE("results: scalings that any run was evaluated with are rows of their own", "[unit]") {
  const Scratch folder;
  const fs::path run = folder.path() / "run";
  leave_run(run, "done", 0.75);
  write_file(run / "config.yaml", config_text("rope", 1));
  write_file(run / "evaluation-1.json",
             replaced(read_file(run / "evaluation.json"), "[]}", R"(["model.position.scaling=yarn"]})"));
  const std::vector<fs::path> runs{run};
  const RunsInput input = results_of_runs(runs);
  REQUIRE(input.results.rows.size() == 4);
  CHECK(input.results.rows[2].scaling == "model.position.scaling=yarn");
  CHECK(input.plan.runs[0].lengths == std::vector<int64_t>{16, 32});
}

TEST_CASE("results: a folder that is no run is refused by name", "[unit]") {
  const Scratch folder;
  const std::vector<fs::path> runs{folder.path()};
  CHECK(contains(thrown<ConfigError>([&] { results_of_runs(runs); }), "is no run folder"));
}

}  // namespace ordo::test
