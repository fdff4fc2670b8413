// SPDX-License-Identifier: Apache-2.0
// Trained runs under other position settings, as a user types them.
#include "support/catch.h"

#include <nlohmann/json.hpp>

#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "support/program.h"

namespace ordo::test {
namespace {

constexpr std::string_view kTable = R"(name: table
task: {kind: language_modeling, tokenizer: byte, data: {generate: {kind: chase, sentences: 50, held_out: 5}}}
model: {kind: decoder, dim: 32, layers: 2, attention: {heads: 2}, position: learned}
train:
  steps: 6
  batch_size: 4
  length: 32
  log_every: 1
  optimizer: {kind: adamw, lr: 3e-3}
  schedule: constant
)";

// A finished run, and the folder that holds it.
struct SurgeryRun {
  Scratch scratch;
  fs::path run;
  explicit SurgeryRun(const Arguments& more = {}) : run(scratch / "run") {
    Arguments words{"train", scratch.write("table.yaml", std::string(kTable)).string(), "--run", run.string(),
                    "device=cpu"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_ordo(words);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
  }
  Outcome eval(const Arguments& more) const {
    Arguments words{"eval", run.string(), "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return run_ordo(words);
  }
  Outcome onward(const std::string& name, const Arguments& more) const {
    Arguments words{"train", (run / "config.yaml").string(), "--init", run.string(),
                    "--run", (scratch / name).string()};
    words.insert(words.end(), more.begin(), more.end());
    return run_ordo(words);
  }
};

Json result_of(const Outcome& outcome) { return parse_json(outcome.out, "stdout").at("results").at(0); }

}  // namespace

TEST_CASE("eval under other positions tells what became of every tensor of the encoding", "[cli]") {
  const SurgeryRun made;
  const Outcome plain = made.eval({});
  REQUIRE(plain.code == 0);
  CHECK(!result_of(plain).contains("surgery"));

  const Outcome none = made.eval({"model.position=none"});
  INFO(none.err);
  REQUIRE(none.code == 0);
  CHECK(none.err.find("decoder.position.weight: dropped") != std::string::npos);
  CHECK(none.err.find("0 kept, 0 resized, 0 new, 1 dropped") != std::string::npos);
  CHECK(result_of(none).at("surgery").at("tensors").at(0) ==
        Json({{"name", "decoder.position.weight"}, {"fate", "dropped"}, {"how", ""}}));
  CHECK(result_of(none).at("metrics").at("loss") != result_of(plain).at("metrics").at("loss"));

  const Outcome longer = made.eval({"model.max_length=64", "--lengths", "32,64"});
  INFO(longer.err);
  REQUIRE(longer.code == 0);
  CHECK(longer.err.find("decoder.position.weight: 32 rows kept, 32 new") != std::string::npos);
  CHECK(result_of(longer).at("metrics") == result_of(plain).at("metrics"));  // at length 32
}

TEST_CASE("eval with a scaling takes the original length from the run", "[cli]") {
  const SurgeryRun made({"model.position=rope"});
  const auto loss = [&](const Arguments& settings) {
    const Outcome outcome = made.eval(settings);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return result_of(outcome).at("metrics").at("loss").get<double>();
  };
  const double plain = loss({});
  CHECK(loss({"model.position.scaling.kind=linear", "model.position.scaling.factor=1"}) == plain);
  CHECK(loss({"model.position.scaling.kind=yarn", "model.position.scaling.factor=4"}) != plain);
  CHECK(loss({"model.position.scaling.kind=dynamic", "model.position.scaling.factor=4"}) == plain);
  const Arguments yarn{"model.position.scaling.kind=yarn", "model.position.scaling.factor=4"};
  CHECK(parse_json(made.eval(yarn).out, "stdout")["overrides"] == Json(yarn));
  const Outcome table = run_ordo({"eval", made.run.string(), yarn[0], yarn[1]});
  CHECK(table.out.find("\nwith " + yarn[0] + " " + yarn[1] + "\n") != std::string::npos);
}

TEST_CASE("eval still refuses weights that do not fit outside the encoding", "[cli]") {
  const SurgeryRun made;
  const Outcome outcome = made.eval({"model.position=none", "model.dim=64"});
  CHECK(outcome.code == 4);
  CHECK(outcome.err.find("does not fit") != std::string::npos);
}

TEST_CASE("train --init begins at step 0 with another run's weights, and its own config is enough afterwards",
          "[cli]") {
  const SurgeryRun made({"model.position=rope"});
  const Arguments scaled{"model.position.scaling.kind=yarn", "model.position.scaling.factor=2", "train.length=64"};
  const Outcome first = made.onward("longer", scaled);
  INFO(first.err);
  REQUIRE(first.code == 0);
  CHECK(first.err.find("scaling.kind: none -> yarn") != std::string::npos);
  const fs::path run = made.scratch / "longer";
  CHECK(read_file(run / "config.yaml").find("trained_length: 32") != std::string::npos);
  CHECK(read_file(run / "config.yaml").find("original_max_position_embeddings: 32") != std::string::npos);

  // Its first loss is that of the weights it was given, far below that of fresh ones.
  const auto first_loss = [](const fs::path& folder) {
    const std::string text = read_file(folder / "metrics.jsonl");
    return parse_json(text.substr(0, text.find('\n')), "metrics.jsonl").at("loss").get<double>();
  };
  CHECK(first_loss(run) < first_loss(made.run) - 0.1);

  // Resumed from its own config it builds the same model: a run of 8 steps equals one of 6 that was given 2 more.
  const Outcome resumed = run_ordo({"train", (run / "config.yaml").string(), "--run", run.string(), "train.steps=8"});
  INFO(resumed.err);
  REQUIRE(resumed.code == 0);
  Arguments whole = scaled;
  whole.emplace_back("train.steps=8");
  REQUIRE(made.onward("whole", whole).code == 0);
  CHECK(read_file(run / "step-00000008" / "model.safetensors") ==
        read_file(made.scratch / "whole" / "step-00000008" / "model.safetensors"));
  CHECK(run_ordo({"eval", run.string()}).code == 0);
  CHECK(run_ordo({"replay", run.string()}).code == 0);
}

TEST_CASE("train --init is refused where it would mix runs or lose its weights", "[cli]") {
  const SurgeryRun made;
  const auto refused = [](const Outcome& outcome, const std::string& why) {
    INFO(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.err.find(why) != std::string::npos);
  };
  const std::string config = (made.run / "config.yaml").string();
  refused(run_ordo({"train", config, "--init", made.run.string(), "--run", made.run.string()}), "give another --run");
  refused(made.onward("other", {"--resume", "never"}), "contradict");
  REQUIRE(made.onward("other", {"model.position=alibi", "train.steps=2"}).code == 0);
  const std::string other = (made.scratch / "other" / "config.yaml").string();
  refused(run_ordo({"train", other, "--run", (made.scratch / "bare").string()}), "--init RUN");
  refused(run_ordo({"replay", (made.scratch / "other").string()}), "--from STEP");
}

}  // namespace ordo::test
