// SPDX-License-Identifier: Apache-2.0
// The main job on real text: configs/shakespeare_char.yaml learns what it promises, with each position encoding; and
// what its kin add to it.
#include "support/catch.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "ordo/core/json.h"
#include "support/data_sets.h"
#include "support/program.h"

namespace ordo::test {
namespace {

// The loss over the whole validation split of a run of the recipe.
double recipe_loss(const fs::path& text, const fs::path& run, const Arguments& more,
                   const std::string& recipe = "shakespeare_char") {
  const Setting patient{.seconds = 1800.0};
  Arguments words{"train",
                  std::string(ORDO_SOURCE_DIR) + "/configs/" + recipe + ".yaml",
                  "--run",
                  run.string(),
                  "--quiet",
                  "device=cpu",
                  "task.data.train=" + text.string()};
  words.insert(words.end(), more.begin(), more.end());
  const Outcome trained = run_ordo(words, patient);
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  const Outcome judged = run_ordo({"eval", run.string(), "--checkpoint", "last", "--json"}, patient);
  REQUIRE(judged.code == 0);
  return parse_json(judged.out, "eval --json").at("results").at(0).at("metrics").at("loss").get<double>();
}

}  // namespace

TEST_CASE("the recipe learns: rope before alibi before learned before none, each within its bar", "[slow]") {
  const auto text = data_set(kTinyShakespeare);
  if (!text) return;
  const Scratch scratch;
  std::map<std::string, double> loss;
  for (const std::string kind : {"rope", "alibi", "learned", "none"})
    loss[kind] = recipe_loss(*text, scratch / kind, {"model.position.kind=" + kind});
  CHECK(loss["rope"] <= 1.84);
  CHECK(loss["learned"] <= 1.95);
  CHECK(loss["none"] >= 1.99);
  CHECK(loss["none"] <= 2.12);
  CHECK(loss["rope"] < loss["alibi"]);
  CHECK(loss["alibi"] < loss["learned"]);
  CHECK(loss["learned"] < loss["none"]);
}

TEST_CASE("segment recurrence lowers the loss of a model that sees 64 characters at a time", "[slow]") {
  const auto text = data_set(kTinyShakespeare);
  if (!text) return;
  const Scratch scratch;
  const double with = recipe_loss(*text, scratch / "with", {}, "shakespeare_segments");
  const double without = recipe_loss(*text, scratch / "without", {"model.memory=0"}, "shakespeare_segments");
  INFO(with << " with a memory of 128 characters, " << without << " without");
  CHECK(with < without - 0.01);
}

TEST_CASE("bf16 ends 300 steps of the recipe where fp32 does", "[slow]") {
  const auto text = data_set(kTinyShakespeare);
  if (!text) return;
  const Scratch scratch;
  const double full = recipe_loss(*text, scratch / "fp32", {"train.steps=300"});
  const double half = recipe_loss(*text, scratch / "bf16", {"train.steps=300", "train.precision=bf16"});
  CHECK(std::abs(full - half) < 0.01);
}

}  // namespace ordo::test
