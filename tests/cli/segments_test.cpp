// SPDX-License-Identifier: Apache-2.0
// A model that keeps the segments before, as a user meets it.
#include "support/catch.h"

#include <nlohmann/json.hpp>

#include "ordo/core/json.h"
#include "support/program.h"

namespace ordo::test {

TEST_CASE("a run with segment recurrence is saved with its memory, replayed, judged and asked to write", "[cli]") {
  const Scratch scratch;
  const std::string config = std::string(ORDO_SOURCE_DIR) + "/configs/models/transformer_xl.yaml";
  const std::string run = (scratch / "run").string();
  const Arguments small{"device=cpu",
                        "model.dim=16",
                        "model.layers=2",
                        "model.attention.heads=2",
                        "task.data.generate.sentences=200",
                        "task.data.generate.held_out=10",
                        "train.steps=4",
                        "train.schedule.warmup=0",
                        "checkpoint.every=2"};
  const auto ordo = [&](Arguments words, const Arguments& more = {}) {
    words.insert(words.end(), more.begin(), more.end());
    Outcome outcome = run_ordo(words);
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    return outcome;
  };
  ordo({"train", config, "--run", run, "--quiet"}, small);
  CHECK(fs::exists(fs::path(run) / "step-00000002" / "memory.safetensors"));
  CHECK(ordo({"replay", run, "--from", "2", "--steps", "2"}).out.find("replay: holds") != std::string::npos);
  const auto judged = parse_json(ordo({"eval", run, "--lengths", "32,64", "--json"}).out, "eval")["results"];
  REQUIRE(judged.size() == 2);
  CHECK(judged[0]["tokens"] == judged[1]["tokens"]);  // each token once, whatever the segments
  const std::string text = ordo({"generate", run, "--prompt", "The cat", "--max-new-tokens", "150", "--greedy"}).out;
  CHECK(text.size() > 150);
}

}  // namespace ordo::test
