// SPDX-License-Identifier: Apache-2.0
// Ten training steps of six families of decoders against an independent computation in PyTorch:
// tests/goldens/training/make.py.
#include "support/catch.h"

#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/grad_mode.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ordo/core/files.h"
#include "ordo/train/trainer.h"

namespace ordo::test {
namespace {

uint64_t golden_number(uint64_t i, uint64_t seed) {
  uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ULL + seed;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

// The token stream of the goldens as a task: batch s, row r holds length + 1 consecutive tokens.
class GoldenTask final : public Task {
 public:
  explicit GoldenTask(const Json& golden)
      : vocab_(golden.at("vocab")),
        batch_(golden.at("batch")),
        length_(golden.at("length")),
        steps_(golden.at("steps")) {}
  ModelFacts complete(ModelFacts facts) const override {
    facts.vocab_size = vocab_;
    return facts;
  }
  std::unique_ptr<BatchStream> open(const StreamOptions&) const override { return std::make_unique<Stream>(*this); }
  bool has(Split split) const override { return split == Split::train; }
  Loss loss(Model& model, const Batch& batch, const LossOptions& options) const override {
    const Tensor hidden = model.forward({.ids = batch.ids, .at = batch.at, .mask = batch.mask, .draw = batch.draw});
    return {model.head().loss(hidden, batch.targets, options), batch.weight};
  }
  Evaluation evaluate(Model&, const StreamOptions&) const override { return {}; }
  const Tokenizer* tokenizer() const override { return nullptr; }
  uint64_t fingerprint() const override { return 0; }
  std::vector<std::string> summary() const override { return {}; }

 private:
  class Stream final : public BatchStream {
   public:
    explicit Stream(const GoldenTask& task) : task_(task) {
      const int64_t count = task.steps_ * task.batch_ * (task.length_ + 1);
      int64_t t = static_cast<int64_t>(golden_number(0, 78) % static_cast<uint64_t>(task.vocab_));
      for (int64_t k = 0; k < count; ++k) {
        if (k > 0)
          t = (3 * t + 7 + static_cast<int64_t>(golden_number(static_cast<uint64_t>(k), 78) % 4)) % task.vocab_;
        tokens_.push_back(t);
      }
    }
    std::optional<Batch> next() override {
      const int64_t B = task_.batch_, L = task_.length_;
      Batch batch{.ids = at::empty({B, L}, at::kLong),
                  .targets = at::empty({B, L}, at::kLong),
                  .at = consecutive(0, L, at::kCPU),
                  .weight = static_cast<double>(B * L)};
      for (int64_t r = 0; r < B; ++r) {
        const int64_t* row = tokens_.data() + (cursor_ * B + r) * (L + 1);
        std::copy_n(row, L, batch.ids.mutable_data_ptr<int64_t>() + r * L);
        std::copy_n(row + 1, L, batch.targets.mutable_data_ptr<int64_t>() + r * L);
      }
      cursor_ = (cursor_ + 1) % task_.steps_;  // the trainer may read ahead of the last step
      return batch;
    }
    Json state() const override { return Json{{"cursor", cursor_}}; }
    void restore(const Json& state) override { cursor_ = state.at("cursor"); }
    int64_t epoch() const override { return 0; }
    double batches_per_epoch() const override { return static_cast<double>(task_.steps_); }

   private:
    const GoldenTask& task_;
    std::vector<int64_t> tokens_;
    int64_t cursor_ = 0;
  };
  int64_t vocab_, batch_, length_, steps_;
};

std::string golden_config(const Json& golden, const Json& s) {
  const auto flag = [&](const char* key) { return s.value(key, false) ? "true" : "false"; };
  std::string position = s.at("position");
  if (position == "rope_interleaved") position = "{kind: rope, layout: interleaved}";
  const auto cap = [&](const char* key) {
    return s.contains(key) ? fmt::format("softcap: {}", s.at(key).get<double>()) : std::string();
  };
  std::string text = fmt::format(
      "name: golden\ndevice: cpu\ntask: {{kind: language_modeling, tokenizer: byte, data: {{generate: chase}}}}\n"
      "model:\n  kind: decoder\n  dim: {}\n  layers: {}\n",
      golden.at("dim").get<int64_t>(), golden.at("layers").get<int64_t>());
  text += fmt::format("  attention:\n    heads: {}\n    kv_heads: {}\n    window: [{}]\n    qk_norm: {}\n    {}\n",
                      golden.at("heads").get<int64_t>(), s.value("kv", golden.at("heads").get<int64_t>()),
                      s.value("window", 0), flag("qk_norm"), cap("softcap"));
  text += fmt::format("  feed_forward: {{hidden: {}, activation: {}, gated: {}}}\n", s.at("hidden").get<int64_t>(),
                      s.at("act").get<std::string>(), flag("gated"));
  text += fmt::format("  norm: {{kind: {}, placement: {}}}\n  position: {}\n  bias: {}\n  tie_embeddings: {}\n",
                      s.at("norm").get<std::string>(), s.at("placement").get<std::string>(), position, flag("bias"),
                      flag("tied"));
  text += fmt::format("  scale_embedding: {}\n  embedding_norm: {}\n  {}\n", flag("scale_embedding"),
                      flag("embedding_norm"), cap("head_softcap"));
  text += fmt::format(
      "train:\n  steps: {}\n  batch_size: {}\n  length: {}\n  optimizer: {{kind: adamw, lr: 3e-3, betas: [0.9, 0.99], "
      "weight_decay: 0.1}}\n"
      "  schedule: {{kind: cosine, warmup: 4, final: 0.1}}\n  clip: 1.0\n  label_smoothing: {}\n  z_loss: {}\n",
      golden.at("steps").get<int64_t>(), golden.at("batch").get<int64_t>(), golden.at("length").get<int64_t>(),
      s.value("smoothing", 0.0), s.value("z_loss", 0.0));
  return text;
}

void golden_weights(Model& model) {
  std::map<std::string, Tensor> sorted;
  for (const auto& p : model.named_parameters()) sorted[p.key()] = p.value();
  const torch::autograd::AutoGradMode no_gradients(false);
  uint64_t first = 0;
  for (auto& [name, parameter] : sorted) {
    if (parameter.dim() == 1) {
      parameter.fill_(name.ends_with(".weight") ? 1.0 : 0.0);
    } else {
      const Tensor values = at::empty(parameter.sizes(), at::kFloat);
      auto* v = values.mutable_data_ptr<float>();
      for (int64_t i = 0; i < values.numel(); ++i)
        v[i] = static_cast<float>(static_cast<double>(golden_number(first + static_cast<uint64_t>(i), 77) >> 40) /
                                      (1 << 24) * 2.0 -
                                  1.0) *
               0.08F;
      parameter.copy_(values);
    }
    first += static_cast<uint64_t>(parameter.numel());
  }
}

}  // namespace

TEST_CASE("ten training steps of each family of decoders give PyTorch's losses, gradient norms and weights",
          "[golden][models]") {
  const Json golden =
      parse_json(read_file(fs::path(ORDO_SOURCE_DIR) / "tests/goldens/training/training.json"), "training.json");
  const std::string kernel = GENERATE("eager", "auto", "tiled");
  for (const auto& [family, expected] : golden.at("families").items()) {
    DYNAMIC_SECTION(family << ", kernel " << kernel) {
      const std::vector<std::string> overrides{"model.attention.kernel=" + kernel};
      const RunConfig config =
          load_run_config_text(golden_config(golden, expected.at("settings")), "golden", overrides).config;
      const auto task = std::make_shared<GoldenTask>(golden);
      const auto model = models().build(config.model, task->complete({.max_length = config.train.length}));
      golden_weights(*model);
      Trainer trainer(config, {.task = task, .model = model, .device = at::kCPU});
      for (size_t step = 0; step < expected.at("losses").size(); ++step) {
        const StepReport report = trainer.step();
        CHECK(report.loss == Approx(expected.at("losses")[step].get<double>()).epsilon(2e-5));
        CHECK(report.grad_norm == Approx(expected.at("grad_norms")[step].get<double>()).epsilon(5e-4));
      }
      for (const auto& p : model->named_parameters()) {
        INFO(p.key());
        CHECK(p.value().detach().abs().sum(at::kDouble).item<double>() ==
              Approx(expected.at("checksums").at(p.key()).get<double>()).epsilon(5e-4).margin(1e-3));
      }
    }
  }
}

}  // namespace ordo::test
