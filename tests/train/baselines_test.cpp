// SPDX-License-Identifier: Apache-2.0
// Models without attention under the trainer: they learn, and a run that was stopped goes on to the bit.
#include "support/catch.h"

#include "support/thrown.h"
#include "train/sample.h"

namespace ordo::test {
namespace {

const std::vector<std::string> kTrained{"{kind: lstm, dim: 16, layers: 2, dropout: 0.1}",
                                        "{kind: gru, dim: 16, layers: 1, dropout: 0.1}",
                                        "{kind: cnn, dim: 16, layers: 2, dropout: 0.1}"};

RunConfig config_of(const std::string& model, const std::vector<std::string>& more = {}) {
  std::vector<std::string> overrides{"model=" + model};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return sample_config(overrides);
}

CheckpointContent after_steps(const RunConfig& config, const std::shared_ptr<const Task>& task, int64_t before,
                              int64_t steps) {
  Trainer first(config, sample_parts(config, task));
  for (int64_t i = 0; i < before; ++i) first.step();
  Trainer second(config, sample_parts(config, task));
  second.restore(first.content());
  for (int64_t i = before; i < steps; ++i) second.step();
  return second.content();
}

// A row of symbols backwards, by an encoder-decoder or a model that sees both sides.
RunConfig reversal(const std::string& model, int64_t steps) {
  const std::string text = "task: {kind: reverse, symbols: 5, held_out: 20}\nmodel: " + model +
                           "\ntrain: {steps: " + std::to_string(steps) +
                           ", batch_size: 16, length: 5, optimizer: {kind: adamw, lr: 1e-2}}\n";
  return load_run_config_text(text, "reversal.yaml", {}).config;
}

}  // namespace

TEST_CASE("models without attention: a run stopped after two steps ends with the same bytes", "[unit]") {
  for (const auto& model : kTrained)
    for (const std::string precision : {"fp32", "bf16", "fp16"}) {
      CAPTURE(model, precision);
      const RunConfig config = config_of(model, {"train.precision=" + precision});
      const auto task = sample_task(config);
      CHECK(same_content(after_steps(config, task, 2, 4), after_steps(config, task, 0, 4)));
    }
  const RunConfig pair = reversal("{kind: gru, dim: 16, layers: 1, cross_attention: additive, dropout: 0.1}", 4);
  const std::shared_ptr<const Task> task = make_task(pair);
  CHECK(same_content(after_steps(pair, task, 2, 4), after_steps(pair, task, 0, 4)));
}

TEST_CASE("models without attention learn", "[unit]") {
  for (const std::string model :
       {"{kind: lstm, dim: 32, layers: 1, cross_attention: multiplicative}",
        "{kind: gru, dim: 32, layers: 1, cross_attention: additive}",
        "{kind: lstm, dim: 32, layers: 1, bidirectional: true}", "{kind: cnn, dim: 32, layers: 3, causal: false}",
        "{kind: gru, dim: 32, layers: 1}"}) {
    CAPTURE(model);
    constexpr int64_t kSteps = 30;
    const RunConfig config = reversal(model, kSteps);
    const std::shared_ptr<const Task> task = make_task(config);
    Trainer trainer(config, sample_parts(config, task));
    const double first = trainer.step().loss;
    double last = first;
    for (int64_t i = 1; i < kSteps; ++i) last = trainer.step().loss;
    CHECK(last < 0.8 * first);
  }
}

TEST_CASE("models without attention: blocks cannot be recomputed, which is told before the first step", "[unit]") {
  const RunConfig config = config_of(kTrained.front(), {"train.recompute=blocks"});
  CHECK(contains(thrown<ConfigError>([&] { Trainer(config, sample_parts(config)); }), "train.recompute"));
}

TEST_CASE("which side a model sees is known of its config", "[unit]") {
  const auto layout = [](const std::string& model) {
    const RunConfig config = reversal(model, 1);
    return sample_parts(config, make_task(config)).model->causal();
  };
  CHECK(layout("{kind: lstm, dim: 8, layers: 1}"));
  CHECK(layout("{kind: lstm, dim: 8, layers: 1, cross_attention: additive}"));
  CHECK(layout("{kind: cnn, dim: 8, layers: 1}"));
  CHECK_FALSE(layout("{kind: gru, dim: 8, layers: 1, bidirectional: true}"));
  CHECK_FALSE(layout("{kind: cnn, dim: 8, layers: 1, causal: false}"));
}

}  // namespace ordo::test
