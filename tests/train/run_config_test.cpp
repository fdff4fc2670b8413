// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/core/errors.h"
#include "support/thrown.h"
#include "train/sample.h"

namespace ordo::test {
namespace {
std::string complaint(const std::vector<std::string>& overrides) {
  return thrown<ConfigError>([&] { sample_config(overrides); });
}
}  // namespace

TEST_CASE("run config: the name is that of the file unless given", "[unit]") {
  CHECK(sample_config().name == "sample");
  CHECK(sample_config({"name=other"}).name == "other");
}

TEST_CASE("run config: keys that cannot hold together are named with both values", "[unit]") {
  CHECK(contains(complaint({"train.batch_size=0"}), "train.batch_size"));
  CHECK(contains(complaint({"train.batch_tokens=64"}), "train.batch_size (2) and train.batch_tokens (64)"));
  CHECK(contains(complaint({"train.batch_size=0", "train.batch_tokens=8"}),
                 "train.batch_tokens (8) must hold at least one row of train.length (16)"));
  CHECK(contains(complaint({"train.early_stop={patience: 2}"}), "evaluate.every is 0"));
  CHECK(contains(complaint({"evaluate.every=1", "train.early_stop={metric: loss}"}), "validation.loss"));
  CHECK(contains(complaint({"checkpoint.best=accuracy"}), "+validation.accuracy"));
  CHECK(contains(complaint({"train.on_nonfinite=rollback"}), "checkpoint.every is 0"));
  CHECK(contains(complaint({"evaluate.stride=17"}), "evaluate.stride (17)"));
  CHECK(contains(complaint({"evaluate.lengths=[8, 16, 8]"}), "evaluate.lengths names 8 twice"));
  CHECK(contains(complaint({"device=gpu"}), "expected auto, cpu, cuda or cuda:N, found 'gpu'"));
  CHECK(contains(complaint({"task.data.validation_fraction=0.1"}), "sample.yaml:7:"));  // where task.data is
  CHECK(contains(complaint({"task={kind: masked_language_modeling, tokenizer: byte, data: {generate: chase}}",
                            "evaluate.stride=4"}),
                 "task masked_language_modeling is judged without windows that slide"));
  CHECK(contains(complaint({"name=a/b"}), "must not"));
  CHECK(contains(complaint({"model.attention.heads=3"}), "model.attention.heads"));
}

TEST_CASE("run config: what a task refuses is told once, with the place of the settings that it names", "[unit]") {
  const auto told = [](const std::string& data) {
    const std::string text = "task:\n  kind: image_classification\n  data: {" + data +
                             "}\nmodel: {kind: encoder, input: {kind: patches, size: 2}, dim: 8, layers: 1, attention: "
                             "{heads: 2}}\ntrain: {steps: 2, batch_size: 2, length: 8}\n";
    return thrown<ConfigError>([&] { load_run_config_text(text, "a.yaml", {}); });
  };
  CHECK(told("").starts_with("a.yaml:3:3: give one of task.data.train"));
  CHECK(told("generate: {}, on_bad_line: skip").starts_with("a.yaml:3:3: task.data.on_bad_line is of files"));
}

TEST_CASE("run config: what a task says of a length is told once, and not of each split", "[unit]") {
  const std::string told = complaint({"task={kind: forecasting, data: {generate: {}}, season: 17}", "task.horizon=2"});
  CHECK(contains(told, "task.season (17) is longer than a context of 16 rows"));
  CHECK(told.find("task.season (17)") == told.rfind("task.season (17)"));
}

TEST_CASE("run config: numbers out of range are refused", "[unit]") {
  for (const std::string bad :
       {"train.ema=1", "train.accumulate=0", "train.length=0", "train.clip=-1", "train.log_every=0",
        "checkpoint.keep=0", "seed=-1", "train.optimizer.betas=[0.9, 1.0]"}) {
    CAPTURE(bad);
    CHECK(contains(complaint({bad}), "command line"));
  }
}

TEST_CASE("run config: batch_tokens gives the rows", "[unit]") {
  CHECK(rows_of(sample_config({"train.batch_size=0", "train.batch_tokens=70"}).train) == 4);
}

TEST_CASE("run config: the resolved form reads back to itself", "[unit]") {
  const std::string text = resolved_yaml(sample_config());
  CHECK(resolved_yaml(load_run_config_text(text, "again.yaml", {}).config) == text);
}

}  // namespace ordo::test
