// SPDX-License-Identifier: Apache-2.0
// A small real run: a decoder of two blocks on the made language, and ways to spoil single steps of it.
#pragma once
#include <ATen/TensorOperators.h>
#include <ATen/ops/sqrt.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "ordo/train/trainer.h"
#include "ordo/train/weights.h"
#include "support/tolerance.h"

namespace ordo::test {

// Dropout, three micro-batches, clipping, averages, warm-up and cosine; 5 steps see the data once and a bit (a partial
// batch in between).
inline constexpr const char* kSampleYaml = R"(
seed: 7
task:
  kind: language_modeling
  tokenizer: byte
  sampling: packed
  data: {generate: {kind: chase, sentences: 5, held_out: 2}}
model:
  kind: decoder
  dim: 16
  layers: 2
  attention: {heads: 2}
  position: rope
  dropout: 0.1
train:
  steps: 5
  batch_size: 2
  length: 16
  accumulate: 3
  optimizer: {kind: adamw, lr: 1e-2, weight_decay: 0.1}
  schedule: {kind: cosine, warmup: 2}
  clip: 0.5
  ema: 0.9
  log_every: 1
)";

inline RunConfig sample_config(const std::vector<std::string>& overrides = {}) {
  return load_run_config_text(kSampleYaml, "sample.yaml", overrides).config;
}

inline std::shared_ptr<const Task> sample_task(const RunConfig& c) { return tasks().build(c.task, {.seed = c.seed()}); }

inline std::shared_ptr<Model> sample_model(const RunConfig& c, const Task& task) {
  return models().build(c.model, task.complete({.max_length = c.train.length, .seed = c.seed()}));
}

inline TrainerParts sample_parts(const RunConfig& c, std::shared_ptr<const Task> task = nullptr) {
  if (!task) task = sample_task(c);
  return {.task = task, .model = sample_model(c, *task), .device = c10::Device(c10::DeviceType::CPU)};
}

// Another task, as it is; to be changed in one point.
class WrappedTask : public Task {
 public:
  explicit WrappedTask(std::shared_ptr<const Task> inner) : inner_(std::move(inner)) {}
  ModelFacts complete(ModelFacts facts) const override { return inner_->complete(facts); }
  std::unique_ptr<BatchStream> open(const StreamOptions& o) const override { return inner_->open(o); }
  bool has(Split split) const override { return inner_->has(split); }
  Loss loss(Model& model, const Batch& batch, const LossOptions& o) const override {
    return inner_->loss(model, batch, o);
  }
  Evaluation evaluate(Model& model, const StreamOptions& o) const override { return inner_->evaluate(model, o); }
  const Tokenizer* tokenizer() const override { return inner_->tokenizer(); }
  uint64_t fingerprint() const override { return inner_->fingerprint(); }
  std::vector<std::string> summary() const override { return inner_->summary(); }

 protected:
  std::shared_ptr<const Task> inner_;
};

// Its loss is spoilt at some steps.
class SpoiltTask final : public WrappedTask {
 public:
  using Spoil = std::function<Tensor(const Tensor& loss, Model& model)>;
  SpoiltTask(std::shared_ptr<const Task> inner, std::set<int64_t> steps, Spoil spoil)
      : WrappedTask(std::move(inner)), steps_(std::move(steps)), spoil_(std::move(spoil)) {}
  Loss loss(Model& model, const Batch& batch, const LossOptions& o) const override {
    Loss loss = inner_->loss(model, batch, o);
    if (steps_.contains(batch.draw.step)) loss.sum = spoil_(loss.sum, model);
    return loss;
  }

 private:
  std::set<int64_t> steps_;
  Spoil spoil_;
};

inline std::shared_ptr<const Task> spoilt(const RunConfig& c, std::set<int64_t> steps, SpoiltTask::Spoil spoil) {
  return std::make_shared<SpoiltTask>(sample_task(c), std::move(steps), std::move(spoil));
}
inline Tensor loss_times_infinity(const Tensor& loss, Model&) { return loss * std::numeric_limits<double>::infinity(); }
// The loss keeps its value; the gradient of the named parameter becomes NaN.
inline SpoiltTask::Spoil gradient_of(const std::string& name) {
  return [name](const Tensor& loss, Model& model) {
    for (const auto& p : parameters_of(model))
      if (p.name == name) return loss + at::sqrt(p.value.sum() * 0.0) * 0.0;
    return loss;
  };
}

// Everything that continues a run: each tensor's bytes, and the state's text.
inline Closeness same_content(const CheckpointContent& a, const CheckpointContent& b) {
  const auto differs = [](const NamedTensors& x, const NamedTensors& y) -> std::string {
    if (x.size() != y.size()) return fmt::format("{} and {} tensors", x.size(), y.size());
    for (size_t i = 0; i < x.size(); ++i)
      if (x[i].first != y[i].first || !same_bytes(x[i].second, y[i].second)) return x[i].first;
    return "";
  };
  for (const std::string& where : {differs(a.model, b.model), differs(a.optimizer, b.optimizer), differs(a.ema, b.ema),
                                   differs(a.memory, b.memory)})
    if (!where.empty()) return {false, "differs in " + where};
  if (a.state != b.state) return {false, "states differ:\n" + a.state + b.state};
  return {true, ""};
}

// A folder that goes when the test does.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / ("ordo-" + name + "-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace ordo::test
