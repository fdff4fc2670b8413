// SPDX-License-Identifier: Apache-2.0
// ordo positions, as a user types it.
#include "support/catch.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ordo/checkpoint/safetensors.h"
#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "support/program.h"

namespace ordo::test {

TEST_CASE("positions runs for every kind that the catalogue lists", "[cli]") {
  const Json kinds = parse_json(run_ordo({"list", "positions", "--json"}).out, "stdout").at("kinds");
  REQUIRE(kinds.size() >= 5);
  for (const auto& entry : kinds) {
    const std::string kind = entry.at("kind");
    CAPTURE(kind);
    const Outcome outcome = run_ordo({"positions", kind, "--length", "96", "--json"});
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(parse_json(outcome.out, "stdout").at("kind") == kind);
  }
}

TEST_CASE("positions writes a picture, JSON and tensors, and says so", "[cli]") {
  const Scratch scratch;
  const Outcome outcome = run_ordo({"positions", "alibi", "--heads", "8", "-o", (scratch / "out").string()});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(outcome.out.find("acts on") != std::string::npos);
  CHECK(outcome.out.find("alibi.svg") != std::string::npos);
  CHECK(read_file(scratch / "out" / "alibi.svg").find("<svg") == 0);
  CHECK(parse_json(read_file(scratch / "out" / "alibi.json"), "alibi.json").at("bias_by_distance").size() == 8);
  const SafetensorsFile tensors(scratch / "out" / "alibi.safetensors");
  CHECK(tensors.tensor("bias").sizes() == at::IntArrayRef({8, 128, 128}));
}

TEST_CASE("positions reads settings as a config does, with the same errors", "[cli]") {
  const Json own = parse_json(run_ordo({"positions", "rope", "theta=100", "--json"}).out, "stdout");
  const Json plain = parse_json(run_ordo({"positions", "rope", "--json"}).out, "stdout");
  CHECK(own.at("wavelengths").back().get<double>() < plain.at("wavelengths").back().get<double>());
  const std::vector<std::pair<Arguments, std::string>> wrong{
      {{"rope", "tehta=100"}, "did you mean 'theta'"},
      {{"rope", "theta=0.5"}, "theta"},
      {{"rpoe"}, "did you mean 'rope'"},
      {{"rope", "alibi"}, "--compare"},
      {{"--compare", "rope"}, "at least two"},
      {{"rope", "--causal", "--two-sided"}, "contradict"},
      {{"rope", "--heads", "5"}, "--heads 5"},
      {{"configs/none-such.yaml"}, "there is no file"},
      {{"rope", "scaling.kind=yarn", "scaling.factor=4"}, "original_max_position_embeddings"}};
  for (const auto& [given, expected] : wrong) {
    Arguments words{"positions"};
    words.insert(words.end(), given.begin(), given.end());
    const Outcome outcome = run_ordo(words);
    INFO(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.err.find(expected) != std::string::npos);
  }
}

TEST_CASE("positions shows what a scaling does past its length", "[cli]") {
  const Outcome outcome =
      run_ordo({"positions", "rope", "scaling.kind=dynamic", "scaling.factor=4",
                "scaling.original_max_position_embeddings=64", "--max-length", "64", "--length", "256", "--json"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json seen = parse_json(outcome.out, "stdout");
  CHECK(seen.at("frequencies").back().get<double>() < seen.at("frequencies_at_max_length").back().get<double>());
}

TEST_CASE("positions --compare prints one table and draws one picture", "[cli]") {
  const Scratch scratch;
  const Outcome outcome =
      run_ordo({"positions", "--compare", "rope", "alibi", "none", "-o", (scratch / "out").string()});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') >= 4);
  CHECK(outcome.out.find("\nwritten: ") != std::string::npos);
  CHECK(fs::exists(scratch / "out" / "compare.svg"));
  CHECK(SafetensorsFile(scratch / "out" / "compare.safetensors").tensor("rope.decay").size(0) == 128);
  CHECK(parse_json(read_file(scratch / "out" / "compare.json"), "compare.json").at("compared").size() == 3);
}

TEST_CASE("positions looks at the encoding of a config and at the trained one of a run", "[cli]") {
  const Scratch scratch;
  const auto config = scratch.write("table.yaml", R"(
task: {kind: language_modeling, tokenizer: byte, data: {generate: {kind: chase, sentences: 50, held_out: 5}}}
model: {kind: decoder, dim: 32, layers: 2, attention: {heads: 2}, position: [learned, alibi]}
train: {steps: 3, batch_size: 4, length: 32}
)");
  const auto seen = [](const fs::path& subject) {
    const Outcome outcome = run_ordo({"positions", subject.string(), "--json"});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return parse_json(outcome.out, "stdout");
  };
  const Json fresh = seen(config);
  CHECK(fresh.at("kind") == "learned+alibi");
  CHECK(fresh.at("model").at("max_length") == 32);
  REQUIRE(run_ordo({"train", config.string(), "--run", (scratch / "run").string(), "device=cpu"}).code == 0);
  CHECK(seen(scratch / "run").at("decay") != fresh.at("decay"));
  const Outcome narrow = run_ordo({"positions", config.string(), "--dim", "64"});
  CHECK(narrow.code == 2);
}

TEST_CASE("positions names files after a config, and says when it writes over some", "[cli]") {
  const Scratch scratch;
  constexpr const char* kConfig = R"(
task: {kind: language_modeling, tokenizer: byte, data: {generate: {kind: chase, sentences: 50, held_out: 5}}}
model: {kind: decoder, dim: 32, layers: 2, attention: {heads: 2}, position: [{kind: rope, layers: [1, 0]}, {kind: alibi, layers: [0, 1]}]}
train: {steps: 3, batch_size: 4, length: 32}
)";
  const auto config = scratch.write("a/turns.yaml", kConfig), twin = scratch.write("b/turns.yaml", kConfig);
  const std::string out = (scratch / "out").string();
  const auto said = [&](Arguments words) {
    words.insert(words.begin(), "positions");
    words.insert(words.end(), {"-o", out});
    const Outcome outcome = run_ordo(words);
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    return outcome.out;
  };
  CHECK(said({config.string()}).find("written: " + out + "/turns.rope.svg") != std::string::npos);
  CHECK(said({config.string()}).find("written over: " + out + "/turns.rope.svg") != std::string::npos);
  CHECK(said({config.string(), "--layer", "1"}).find("written: " + out + "/turns.alibi.svg") != std::string::npos);
  CHECK(said({"rope"}).find("written: " + out + "/rope.svg") != std::string::npos);
  CHECK(said({"--compare", config.string(), twin.string()}).find(twin.string() + ": rope") != std::string::npos);
  CHECK(run_ordo({"positions", config.string(), "--layer", "2"}).code == 2);
  CHECK(run_ordo({"positions", "--compare", "rope", "rope"}).code == 2);
}

}  // namespace ordo::test
