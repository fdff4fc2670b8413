// SPDX-License-Identifier: Apache-2.0
// One small checkpoint of each format number that was ever written (tests/goldens/checkpoint-N): it loads, and its run
// goes on.
#include "support/catch.h"

#include "ordo/train/trainer.h"

namespace ordo::test {

TEST_CASE("a checkpoint of format 1 loads, and its run goes on with the losses it had", "[golden]") {
  const Checkpoint checkpoint(fs::path(ORDO_SOURCE_DIR) / "tests/goldens/checkpoint-1/step-00000002");
  const RunConfig config = load_run_config_text(checkpoint.config(), "config.yaml", {}).config;
  const std::shared_ptr<const Task> task =
      tasks().build(config.task, {.saved_tokenizer = checkpoint.tokenizer(), .seed = config.seed()});
  const auto facts = task->complete({.max_length = config.train.length, .seed = config.seed()});
  Trainer trainer(config, {.task = task, .model = models().build(config.model, facts), .device = at::kCPU});
  trainer.restore(checkpoint);
  const double third = trainer.step().loss, fourth = trainer.step().loss;
  CHECK(third == Approx(3.3188096284866333).epsilon(1e-5));
  CHECK(fourth == Approx(3.3104002475738525).epsilon(1e-5));
  CHECK(trainer.state().step == 4);
}

}  // namespace ordo::test
