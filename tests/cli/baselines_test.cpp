// SPDX-License-Identifier: Apache-2.0
// Recurrent and convolutional models from the command line: every command does its work, or says why not.
#include "support/catch.h"

#include <nlohmann/json.hpp>

#include "ordo/core/json.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

const std::string kReverseLstm = std::string(ORDO_SOURCE_DIR) + "/configs/tasks/reverse_lstm.yaml";
const std::string kTiny = std::string(ORDO_SOURCE_DIR) + "/configs/tiny.yaml";

Outcome ordo(const Arguments& words, const fs::path& folder = {}) {
  return run_ordo(words, {.folder = folder, .environment = {"OMP_NUM_THREADS=1"}});
}

}  // namespace

TEST_CASE("lstm, gru and cnn are trained, evaluated at any length, and go on with a text", "[cli]") {
  const Scratch scratch;
  for (const std::string model :
       {"{kind: lstm, dim: 16, layers: 1}", "{kind: gru, dim: 16, layers: 2}", "{kind: cnn, dim: 16, layers: 2}"}) {
    const std::string run = "run-" + model.substr(7, 4);
    const Outcome trained = ordo({"train", kTiny, "--run", run, "--quiet", "device=cpu", "train.steps=4",
                                  "train.schedule=constant", "evaluate.every=0", "model=" + model},
                                 scratch.path());
    INFO(model << trained.err);
    REQUIRE(trained.code == 0);
    const Outcome judged = ordo({"eval", run, "--lengths", "8,200", "--json"}, scratch.path());
    INFO(judged.err);
    REQUIRE(judged.code == 0);
    for (const Json& result : parse_json(judged.out, "eval --json").at("results"))
      CHECK(result.at("metrics").at("loss").get<double>() > 0.0);
    const Outcome written =
        ordo({"generate", run, "--prompt", "cat", "--prompt", "a mouse", "--max-new-tokens", "5", "--greedy", "--json"},
             scratch.path());
    INFO(written.err);
    CHECK(written.code == 0);
    CHECK(parse_json(written.out, "generate --json").at("results").size() == 2);
    CHECK(ordo({"replay", run, "--from", "0", "--steps", "2"}, scratch.path()).code != 1);
    CHECK(ordo({"report", run, "-o", "report-" + run}, scratch.path()).code == 0);
  }
}

TEST_CASE("what attention alone has is refused in one line for models without it", "[cli]") {
  struct Asked {
    Arguments words;
    std::string told;
  };
  const std::vector<Asked> all{
      {{"certify", kReverseLstm}, "certificates are of stacks of attention"},
      {{"certify", kReverseLstm, "--explain"}, "certificates are of stacks of attention"},
      {{"positions", kReverseLstm}, "its model is of kind lstm"},
      {{"check", kReverseLstm, "train.recompute=blocks"}, "train.recompute"},
      {{"check", kReverseLstm, "model.position=rope"}, "'position' is a setting of"},
      {{"check", kReverseLstm, "model.dim=63"}, "62 or 64"},
      {{"check", kReverseLstm, "model.bidirectional=true"}, "contradict"},
      {{"check", kTiny, "model={kind: gru, dim: 16, layers: 1, bidirectional: true}"}, "sees both sides"},
      {{"check", kTiny, "model={kind: cnn, dim: 16, layers: 0}"}, "leaves each token alone"},
      {{"check", kTiny, "model={kind: lstm, dim: 16, layers: 1, cross_attention: additive}"}, "encoder-decoder"},
  };
  for (const auto& asked : all) {
    Arguments words = asked.words;
    words.emplace_back("device=cpu");
    const Outcome outcome = ordo(words);
    std::string shown;
    for (const auto& word : words) shown += word + " ";
    INFO(shown << outcome.out << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, asked.told));
  }
}

TEST_CASE("check counts the parts of a recurrent encoder-decoder", "[cli]") {
  const Outcome outcome = ordo({"check", kReverseLstm, "--json", "device=cpu"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json found = parse_json(outcome.out, "check --json");
  CHECK(found.at("parameters_by_part").at("decoder.layers.*") == 4 * 64 * 128 + 8 * 64);
  CHECK(found.at("parameters_by_part").at("encoder.layers.*") == 2 * (4 * 32 * 96 + 8 * 32));
  CHECK(found.at("kernels").empty());
  CHECK(found.at("position").empty());
}

TEST_CASE("a study compares a Transformer with models without attention", "[cli]") {
  const Scratch scratch;
  const auto short_of = [&](const std::string& recipe) {
    return "include: " + std::string(ORDO_SOURCE_DIR) + "/configs/tasks/" + recipe +
           ".yaml\nmodel: {dim: 16}\ntrain: {steps: 3, schedule: {kind: constant}}\n";
  };
  scratch.write("transformer.yaml", short_of("reverse"));
  scratch.write("attention.yaml", short_of("reverse_lstm"));
  scratch.write("study.yaml", R"(
name: baselines
base: transformer.yaml
vary:
  model:
    transformer: {}
    lstm: {model: {kind: lstm, dim: 16, layers: 1}}
    attention: {base: attention.yaml}
    cnn: {model: {kind: cnn, dim: 16, layers: 2, causal: false}}
seeds: [1]
evaluate: {lengths: [10]}
compare: {metric: accuracy, length: 10, against: transformer}
)");
  const Outcome outcome = ordo({"ablate", "study.yaml", "-o", "study"}, scratch.path());
  INFO(outcome.out << outcome.err);
  CHECK(outcome.code == 0);
  CHECK(fs::exists(scratch / "study/report.html"));
}

}  // namespace ordo::test
