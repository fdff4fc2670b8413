// SPDX-License-Identifier: Apache-2.0
// Training on several sources in given proportions, as a user runs it.
#include "support/catch.h"

#include <csignal>

#include "ordo/core/files.h"
#include "support/program.h"

namespace ordo::test {
namespace {

constexpr std::string_view kWeighted = R"(name: weighted
task:
  kind: language_modeling
  tokenizer: byte
  sampling: packed
  data: {train: [few.txt, "many/*.txt"], weights: [0.6, 0.4], validation_fraction: 0.1}
model: {kind: decoder, dim: 64, layers: 3, attention: {heads: 4}, position: rope, dropout: 0.1}
train:
  steps: 30
  batch_size: 12
  length: 64
  log_every: 1
  optimizer: {kind: adamw, lr: 3e-3}
checkpoint: {every: 3, keep: 2}
)";

std::string lines(const std::string& line, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i) + line + "\n";
  return text;
}

fs::path weighted_config(const Scratch& scratch) {
  scratch.write("few.txt", lines(" few", 80));
  scratch.write("many/1.txt", lines(" the first of many", 60));
  scratch.write("many/2.txt", lines(" the second of many", 60));
  return scratch.write("weighted.yaml", std::string(kWeighted));
}

Arguments mixed_words(const fs::path& config, const fs::path& run) {
  return {"train", config.string(), "--run", run.string(), "device=cpu"};
}

}  // namespace

TEST_CASE("a run with weights that is killed and started again ends with the bytes of the run that was not", "[cli]") {
  const Scratch scratch;
  const fs::path config = weighted_config(scratch);
  REQUIRE(run_ordo(mixed_words(config, scratch / "whole")).code == 0);
  for (const int step : {4, 9}) {
    Process running(ordo_program(), mixed_words(config, scratch / "killed"), {});
    REQUIRE(running.wait_for("step " + std::to_string(step) + "/"));
    running.signal(SIGKILL);
    REQUIRE(running.finish().code == 128 + SIGKILL);
  }
  const Outcome finished = run_ordo(mixed_words(config, scratch / "killed"));
  INFO(finished.err);
  REQUIRE(finished.code == 0);
  for (const auto* file : {"model.safetensors", "optimizer.safetensors", "state.json"}) {
    INFO(file);
    const auto last = [&](const char* run) { return read_file(scratch / run / "step-00000030" / file); };
    CHECK((last("whole") == last("killed")));
  }
}

TEST_CASE("other weights are other data: a run does not go on with them unless it is told to", "[cli]") {
  const Scratch scratch;
  const fs::path config = weighted_config(scratch);
  Arguments words = mixed_words(config, scratch / "run");
  words.emplace_back("train.steps=1");
  REQUIRE(run_ordo(words).code == 0);
  words.back() = "train.steps=2";
  words.emplace_back("task.data.weights=[0.5, 0.5]");
  const Outcome refused = run_ordo(words);
  INFO(refused.err);
  CHECK(refused.code == 4);
  CHECK(refused.err.find("the training data is not what the checkpoint was trained on") != std::string::npos);
}

TEST_CASE("check tells of each part what it has, its weight and how often an epoch passes it", "[cli]") {
  const Scratch scratch;
  const fs::path config = weighted_config(scratch);
  const Outcome told = run_ordo({"check", config.string(), "device=cpu"});
  INFO(told.out << told.err);
  REQUIRE(told.code == 0);
  CHECK(told.out.find("few.txt: 495 tokens, weight 0.6: 60.0 % of an epoch, which passes them 3.39 times") !=
        std::string::npos);
  CHECK(told.out.find("many/*.txt: 2304 tokens, weight 0.4: 40.0 % of an epoch, which passes them 0.486 times") !=
        std::string::npos);
}

}  // namespace ordo::test
