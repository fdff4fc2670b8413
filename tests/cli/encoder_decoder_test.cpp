// SPDX-License-Identifier: Apache-2.0
// Encoder-decoders from the command line: what they are told, trained, resumed and judged by.
#include "support/catch.h"

#include <nlohmann/json.hpp>

#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "support/data_sets.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

const std::string kRecipes = std::string(ORDO_SOURCE_DIR) + "/configs/tasks/";

Outcome reverse(const std::string& command, const Arguments& more) {
  Arguments words{command, kRecipes + "reverse_encoder_decoder.yaml", "device=cpu"};
  words.insert(words.end(), more.begin(), more.end());
  return run_ordo(words, {.environment = {"OMP_NUM_THREADS=1"}});
}

Arguments training(const fs::path& run, const Arguments& more = {}) {
  Arguments words{"--run",
                  run.string(),
                  "--quiet",
                  "model.dropout=0.1",
                  "train.accumulate=2",
                  "task.held_out=20",
                  "model.dim=16",
                  "train.schedule.kind=constant",
                  "train.recompute=blocks"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("an encoder-decoder that was stopped goes on to the bytes of one that was not", "[cli]") {
  const Scratch scratch;
  CHECK(reverse("train", training(scratch / "whole", {"train.steps=6"})).code == 0);
  CHECK(reverse("train", training(scratch / "parted", {"train.steps=3"})).code == 0);
  const Outcome resumed = reverse("train", training(scratch / "parted", {"train.steps=6"}));
  INFO(resumed.err);
  REQUIRE(resumed.code == 0);
  const auto weights = [&](const char* run) {
    return read_file(scratch / run / "step-00000006" / "model.safetensors");
  };
  CHECK(weights("whole") == weights("parted"));
  const Outcome judged = run_ordo({"eval", (scratch / "whole").string(), "--lengths", "10,12", "--json"});
  REQUIRE(judged.code == 0);
  const Json results = parse_json(judged.out, "eval --json").at("results");
  REQUIRE(results.size() == 2);
  CHECK(results.at(1).at("metrics").contains("exact_match"));
}

TEST_CASE("the order of the data is that of what an encoder-decoder reads, not of its answers alone", "[cli]") {
  const Scratch scratch;
  const auto order = [&](const std::string& seed) {
    const fs::path run = scratch / seed;
    REQUIRE(reverse("train", training(run, {"train.steps=1", "task={kind: parity}", "seed=" + seed})).code == 0);
    return parse_json(read_file(run / "step-00000001" / "state.json"), "state.json").at("data_order");
  };
  CHECK(order("1") != order("2"));
}

TEST_CASE("resume allows of one side of an encoder-decoder what it allows of both", "[cli]") {
  const Scratch scratch;
  const auto go_on = [&](const Arguments& more) { return reverse("train", training(scratch / "run", more)); };
  REQUIRE(go_on({"train.steps=1", "model.encoder.dropout=0.1"}).code == 0);
  CHECK(go_on({"train.steps=2", "model.encoder.dropout=0.2"}).code == 0);
  const Outcome layers = go_on({"train.steps=3", "model.encoder.dropout=0.2", "model.decoder.layers=2"});
  CHECK(layers.code == 2);
  CHECK(contains(layers.err, "model.decoder.layers"));
}

TEST_CASE("check tells the stacks of an encoder-decoder apart", "[cli]") {
  const Outcome told = reverse("check", {"model.encoder.layers=2", "model.decoder.position=sinusoidal",
                                         "model.decoder.cross_position=[{kind: alibi, direction: symmetric}]"});
  INFO(told.out << told.err);
  REQUIRE(told.code == 0);
  CHECK(contains(told.out, "position     encoder: rope: acts on query and key in all layers"));
  CHECK(contains(told.out, "position     decoder: sinusoidal: acts on input"));
  CHECK(contains(told.out, "position     decoder, cross-attention: alibi: acts on scores in all layers"));
  CHECK(contains(told.out, "attention    encoder: layers 0-1: "));
  CHECK(contains(told.out, "attention    decoder, cross-attention: layer 0: "));
  CHECK(contains(told.out, "decoder.blocks.*.cross "));
}

TEST_CASE("an encoder-decoder is refused where it has nothing to read, or a setting that cannot hold", "[cli]") {
  const Outcome text = run_ordo({"check", std::string(ORDO_SOURCE_DIR) + "/configs/tiny.yaml", "device=cpu",
                                 "model={kind: encoder_decoder, dim: 16, layers: 1, attention: {heads: 2}}"});
  CHECK(text.code == 2);
  CHECK(contains(text.err, "has no source for an encoder-decoder to read; use model.kind: decoder"));
  const Outcome heads = reverse("check", {"model.decoder.attention={heads: 3}"});
  CHECK(heads.code == 2);
  CHECK(contains(heads.err, "model.decoder.attention.heads (3) must divide model.decoder.dim (64)"));
  const Outcome cross = reverse("check", {"model.decoder.cross_position=sinusoidal"});
  CHECK(cross.code == 2);
  CHECK(contains(cross.err, "cross-attention cannot use it"));
  const Outcome layers = reverse("check", {"model.decoder.cross_position={kind: alibi, layers: [1, 0, 1]}"});
  CHECK(layers.code == 2);
  CHECK(contains(layers.err, "model.decoder.cross_position.layers has 3 entries"));
  const Outcome moves = reverse("check", {"model.encoder.position=randomized", "model.max_length=64"});
  CHECK(contains(moves.err, "model.encoder.position only moves positions"));
  CHECK_FALSE(contains(moves.err, "model.decoder.position only"));
  const Outcome side = reverse("check", {"model.encoder.cross_position=rope"});
  CHECK(side.code == 2);
  CHECK(contains(side.err, "cross_position"));
  const Outcome length = reverse("check", {"model.encoder.position=learned", "model.max_length=4"});
  CHECK(length.code == 2);
  CHECK(contains(length.err, "model.max_length (4) is smaller than train.length (10)"));
}

TEST_CASE("an encoder-decoder that cannot tell a row from its reversal is told so", "[cli]") {
  const auto check = [](const std::string& encoder) {
    return run_ordo({"check", kRecipes + "chase_bare.yaml", "device=cpu",
                     "model={kind: encoder_decoder, dim: 16, layers: 1, attention: {heads: 2}, position: sinusoidal, "
                     "encoder: {position: " +
                         encoder + "}}"});
  };
  const Outcome blind = check("none"), seeing = check("rope");
  INFO(blind.err << seeing.err);
  CHECK(blind.code == 0);
  CHECK(contains(blind.err, "when they are read backwards"));
  CHECK(seeing.code == 0);
  CHECK_FALSE(contains(seeing.err, "when they are read backwards"));
}

TEST_CASE("the trained weights of an encoder-decoder keep their position encodings", "[cli]") {
  const Scratch scratch;
  const std::string run = (scratch / "run").string();
  REQUIRE(reverse("train", training(run, {"train.steps=1"})).code == 0);
  for (const std::string change : {"model.position.kind=alibi", "model.decoder.position=rope"}) {
    const Outcome refused = run_ordo({"eval", run, change});
    INFO(refused.err);
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, "keep their position encodings"));
  }
}

TEST_CASE("generate answers in the words of a task of pairs, by a decoder as by an encoder-decoder", "[cli]") {
  const Scratch scratch;
  std::string pairs;
  for (int i = 0; i < 8; ++i) pairs += "IN: walk OUT: I_WALK\nIN: jump twice OUT: I_JUMP I_JUMP\n";
  const std::string file = scratch.write("pairs.txt", pairs).string();
  for (const std::string model : {"encoder_decoder", "decoder"}) {
    const std::string run = (scratch / model).string();
    const Outcome trained =
        run_ordo({"train", kRecipes + "scan_encoder_decoder.yaml", "--run", run, "--quiet", "device=cpu",
                  "task.train=" + file, "task.validation_fraction=0.25", "train.steps=60", "train.schedule=constant",
                  "train.batch_size=4", "train.length=2", "evaluate={lengths: [2]}",
                  "model={kind: " + model +
                      ", dim: 32, layers: 1, attention: {heads: 2}, "
                      "position: sinusoidal, init: {kind: lecun_normal, embedding_std: 0.2}, "
                      "max_length: 12}"});
    INFO(trained.err);
    REQUIRE(trained.code == 0);
    const auto answer = [&](const Arguments& more) {
      Arguments words{"generate", run};
      words.insert(words.end(), more.begin(), more.end());
      return run_ordo(words);
    };
    CHECK(answer({"-p", "jump  twice", "--greedy"}).out == "I_JUMP I_JUMP\n");
    const Outcome both = answer({"-p", "jump twice", "-p", "walk", "--beam", "3"});
    CHECK(both.out == "== 1 of 2\nI_JUMP I_JUMP\n\n== 2 of 2\nI_WALK\n");
    CHECK(answer({"-p", "walk", "--greedy", "--min-new-tokens", "2", "-n", "3"}).out.starts_with("I_WALK "));
    const Outcome unknown = answer({"-p", "jmup twice", "--greedy"});
    CHECK(unknown.code == 3);
    CHECK(contains(unknown.err, "'jmup' is no word of the training pairs; did you mean 'jump'?"));
    CHECK(answer({"-p", "  ", "--greedy"}).code == 3);
    const Outcome stop = answer({"-p", "walk", "--stop", "nonsense"});
    CHECK(stop.code == 2);
    CHECK(contains(stop.err, "--stop 'nonsense' is not one token of the model"));
  }
}

TEST_CASE("the SCAN recipe writes held-out commands of its lengths whole", "[slow]") {
  const auto train = data_set("scan/tasks_train_length.txt.gz");
  if (!train) return;
  const Scratch scratch;
  const Outcome trained =
      run_ordo({"train", kRecipes + "scan_encoder_decoder.yaml", "--run", (scratch / "run").string(), "--quiet",
                "device=cpu", "task.train=" + train->string()},
               {.seconds = 1200.0});
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  const Outcome judged = run_ordo({"eval", (scratch / "run").string(), "--json"});
  const Json result = parse_json(judged.out, "eval --json").at("results").at(0);
  CHECK(result.at("metrics").at("exact_match").get<double>() >= 0.93);
}

}  // namespace ordo::test
