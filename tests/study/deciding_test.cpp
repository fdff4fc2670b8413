// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <nlohmann/json.hpp>

#include "ordo/study/deciding.h"

namespace ordo::test {

TEST_CASE("deciding: a key decides what the nearest key above it in the list does, all others the training", "[unit]") {
  CHECK(decided_by("name") == Decides::place);
  CHECK(decided_by("train.log_every") == Decides::record);
  CHECK(decided_by("checkpoint.every") == Decides::record);
  CHECK(decided_by("checkpoint.best") == Decides::judgement);
  CHECK(decided_by("evaluate.batch_size") == Decides::record);
  CHECK(decided_by("evaluate.lengths.0") == Decides::judgement);
  CHECK(decided_by("train.recompute.kind") == Decides::judgement);
  CHECK(decided_by("train.optimizer.lr") == Decides::training);
  CHECK(decided_by("names") == Decides::training);
  CHECK(decided_by("model.position.0.kind") == Decides::training);
}

TEST_CASE("deciding: settings that decide too little are left out, wherever they stand, and no others", "[unit]") {
  const RunConfig config{.name = "one", .seed_value = 3};
  const Json made = settings_that_decide(config, Decides::record),
             compared = settings_that_decide(config, Decides::judgement),
             trained = settings_that_decide(config, Decides::training);
  CHECK_FALSE(made.contains("name"));
  CHECK_FALSE(made.contains("device"));
  CHECK(made["train"].contains("log_every"));
  CHECK(made["checkpoint"].contains("keep"));
  CHECK_FALSE(compared["train"].contains("log_every"));
  CHECK_FALSE(compared["train"].contains("certify"));
  CHECK_FALSE(compared["checkpoint"].contains("keep"));
  CHECK(compared["checkpoint"].contains("best"));
  CHECK(compared["train"].contains("recompute"));
  CHECK(compared["seed"] == 3);
  CHECK_FALSE(trained.contains("seed"));
  CHECK_FALSE(trained.contains("evaluate"));
  CHECK_FALSE(trained.contains("checkpoint"));
  CHECK_FALSE(trained["train"].contains("recompute"));
  CHECK(trained["train"].contains("clip"));
}

}  // namespace ordo::test
