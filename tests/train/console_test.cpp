// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/core/files.h"
#include "ordo/core/log.h"
#include "ordo/train/console.h"
#include "support/thrown.h"
#include "train/sample.h"

namespace ordo::test {

TEST_CASE("console: the log tells steps on their horizon, speed, time left, evaluations, refusals and memory",
          "[unit]") {
  const TemporaryFolder folder("console");
  log::to_file(folder.path() / "log.txt");
  RunConfig config;
  config.name = "sample";
  config.train.log_every = 10;
  Console console;
  console.started(config, 0, 20);
  for (int64_t s = 1; s <= 20; ++s)
    console.stepped({.step = s, .step_tokens = 64, .loss = 2.5, .lr = 1e-3, .grad_norm = 0.5, .peak_memory = 3e8});
  console.evaluated({.step = 20,
                     .length = 64,
                     .evaluation = {.metrics = {{"accuracy", 0.412},
                                                {"bits_per_byte", 3.0},
                                                {"bits_per_character", 3.0},
                                                {"loss", 2.0},
                                                {"perplexity", 7.5}},
                                    .tokens = 1000,
                                    .protocol = "sliding"},
                     .best = true});
  console.evaluated({.step = 20, .length = 128, .refused = "the table has 64 rows"});
  console.finished({.end = RunReport::End::stopped_by_signal, .step = 20, .steps = 20, .peak_memory = 3e8});
  log::to_file({});
  const std::string text = read_file(folder.path() / "log.txt");
  for (const char* part :
       {"training 'sample' from step 0 to 20", "step 10/20  loss 2.5000  lr 1.00e-03  norm 0.500", "tokens/s", " left",
        "step 20  validation at length 64: loss 2.0000, perplexity 7.5000, accuracy 41.2%, bits_per_character 3.0000, "
        "the best so far (sliding",
        "at length 128: refused, the table has 64 rows", "stopped by a signal, resumable: step 20 of 20",
        "peak memory 300 MB"}) {
    CAPTURE(part);
    CHECK(contains(text, part));
  }
  CHECK_FALSE(contains(text, "step 11/20  loss 2.5000  lr"));
}

}  // namespace ordo::test
