// SPDX-License-Identifier: Apache-2.0
// A task whose rows ask for another answer when they are read backwards, and models that cannot tell.
#include "support/catch.h"

#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

Outcome check_bare(const std::string& position, const Arguments& more = {}) {
  Arguments words{"check", std::string(ORDO_SOURCE_DIR) + "/configs/tasks/chase_bare.yaml",
                  "model.position=" + position};
  words.insert(words.end(), more.begin(), more.end());
  const Outcome outcome = run_ordo(words);
  INFO(outcome.err);
  CHECK(outcome.code == 0);
  return outcome;
}

const std::string kWarning = "when they are read backwards";

}  // namespace

TEST_CASE("check warns of an encoding that treats both sides alike where answers hang on the side", "[cli]") {
  for (const std::string blind : {"none", "{kind: alibi, direction: symmetric}", "kerple"}) {
    CAPTURE(blind);
    const Outcome outcome = check_bare(blind);
    CHECK(contains(outcome.err, kWarning));
    CHECK(contains(outcome.err, "model.position.direction=split"));
  }
}

TEST_CASE("check does not warn of an encoding that tells the sides apart, whatever its first values are", "[cli]") {
  for (const std::string telling : {"sinusoidal", "rope", "{kind: alibi, direction: asymmetric}",
                                    "{kind: alibi, direction: split}", "{kind: t5_bias, init_std: 0.0}"}) {
    CAPTURE(telling);
    CHECK_FALSE(contains(check_bare(telling).err, kWarning));
  }
  // What is read is no mean of a row and its reversal.
  CHECK_FALSE(contains(check_bare("none", {"task.read=end"}).err, kWarning));
  CHECK_FALSE(contains(
      check_bare("none", {"model.kind=decoder", "model.dim=16", "model.layers=1", "model.attention.heads=2"}).err,
      kWarning));
}

TEST_CASE("train warns of it too", "[cli]") {
  const Scratch scratch;
  const Outcome outcome = run_ordo({"train", std::string(ORDO_SOURCE_DIR) + "/configs/tasks/chase_bare.yaml",
                                    "model.position=none", "train.steps=1", "train.schedule.warmup=0",
                                    "train.batch_size=2", "task.held_out=2", "--run", (scratch / "run").string()});
  INFO(outcome.err);
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.err, kWarning));
}

}  // namespace ordo::test
