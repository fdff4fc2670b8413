// SPDX-License-Identifier: Apache-2.0
#include "bench_case.h"

#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>
#include <fmt/core.h>
#include <torch/csrc/autograd/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "runs.h"

namespace ordo::cli {
namespace {

struct CaseShape {
  std::string_view name;
  int64_t layers, heads, kv_heads, dim, hidden, length, batch, vocab;
  std::string_view position;  // as YAML
  bool llama = false;         // RMSNorm, SwiGLU, an untied head
};
constexpr std::string_view kLearned = "learned", kAlibi = "alibi", kRope = "rope";
constexpr CaseShape kShapes[] = {
    {"gpt-small-char", 6, 6, 6, 384, 1536, 256, 12, 65, kLearned},
    {"gpt2ish", 4, 8, 8, 512, 2048, 512, 4, 50304, kLearned},
    {"gpt2-124m", 12, 12, 12, 768, 3072, 64, 4, 50304, kLearned},
    {"llama", 4, 8, 2, 512, 1376, 512, 4, 8192, kRope, true},
    {"long-alibi", 2, 4, 4, 256, 1024, 4096, 1, 256, kAlibi},
};

const CaseShape& find_shape(const std::string& name) {
  for (const auto& shape : kShapes)
    if (shape.name == name) return shape;
  const Words names = bench_case_names();
  const std::string near = nearest(name, names);
  throw ConfigError(fmt::format("unknown case '{}'{}; there are {}", name,
                                near.empty() ? "" : fmt::format(": did you mean '{}'?", near), join(names, ", ")));
}

constexpr std::string_view kConfig = R"(
name: bench
task: {{kind: language_modeling, tokenizer: byte, data: {{generate: chase}}}}
model:
  kind: decoder
  dim: {dim}
  layers: {layers}
  attention: {{heads: {heads}, kv_heads: {kv_heads}}}
  feed_forward: {{hidden: {hidden}, activation: {activation}, gated: {llama}}}
  norm: {{kind: {norm}}}
  position: {position}
  bias: false
  tie_embeddings: {tied}
train:
  steps: 1000000
  batch_size: {batch}
  length: {length}
  optimizer: {{kind: adamw, lr: 1e-3, betas: [0.9, 0.95], eps: 1e-8, weight_decay: 0.1, decay: all}}
  schedule: constant
  precision: {precision}
  clip: 1.0
)";

constexpr int64_t kBatches = 8;

// t[0] = u(0) mod V; t[k] = (3 t[k-1] + 7 + u(k) mod 4) mod V.
std::vector<int64_t> token_stream(int64_t count, int64_t vocab, uint64_t seed) {
  std::vector<int64_t> tokens(static_cast<size_t>(count));
  int64_t t = static_cast<int64_t>(bench_number(0, seed) % static_cast<uint64_t>(vocab));
  for (int64_t k = 0; k < count; ++k) {
    if (k > 0) t = (3 * t + 7 + static_cast<int64_t>(bench_number(static_cast<uint64_t>(k), seed) % 4)) % vocab;
    tokens[static_cast<size_t>(k)] = t;
  }
  return tokens;
}

class FixedStream final : public BatchStream {
 public:
  explicit FixedStream(std::vector<Batch> batches) : batches_(std::move(batches)) {}
  std::optional<Batch> next() override { return batches_[static_cast<size_t>(next_++) % batches_.size()]; }
  Json state() const override { return Json{{"next", next_}}; }
  void restore(const Json& state) override { next_ = state.at("next").get<int64_t>(); }
  int64_t epoch() const override { return next_ / static_cast<int64_t>(batches_.size()); }
  double batches_per_epoch() const override { return static_cast<double>(batches_.size()); }

 private:
  std::vector<Batch> batches_;
  int64_t next_ = 0;
};

class FixedTask final : public Task {
 public:
  FixedTask(std::vector<Batch> batches, int64_t vocab) : batches_(std::move(batches)), vocab_(vocab) {}
  ModelFacts complete(ModelFacts facts) const override {
    facts.vocab_size = vocab_;
    return facts;
  }
  std::unique_ptr<BatchStream> open(const StreamOptions&) const override {
    return std::make_unique<FixedStream>(batches_);
  }
  bool has(Split split) const override { return split == Split::train; }
  Loss loss(Model& model, const Batch& batch, const LossOptions& options) const override {
    const Tensor hidden = model.forward({.ids = batch.ids, .at = batch.at, .mask = batch.mask, .draw = batch.draw});
    return {model.head().loss(hidden, batch.targets, options), batch.weight};
  }
  Evaluation evaluate(Model&, const StreamOptions&) const override { return {}; }
  const Tokenizer* tokenizer() const override { return nullptr; }
  uint64_t fingerprint() const override { return 0; }
  std::vector<std::string> summary() const override { return {"fixed batches of generated numbers"}; }

 private:
  std::vector<Batch> batches_;
  int64_t vocab_;
};

// Our parameters in the order in which the peers declare theirs; their fused qkv is our q, k and v one after the other.
Words declaration_order(const CaseShape& shape) {
  Words names{"embedding.weight"};
  if (shape.position == kLearned) names.emplace_back("decoder.position.weight");
  for (int64_t layer = 0; layer < shape.layers; ++layer) {
    const auto of_block = [&](std::string_view leaf) {
      names.push_back(fmt::format("decoder.blocks.{}.{}.weight", layer, leaf));
    };
    for (const auto* leaf : {"norm1", "attention.q", "attention.k", "attention.v", "attention.o", "norm2"})
      of_block(leaf);
    if (shape.llama) of_block("feed_forward.gate");
    for (const auto* leaf : {"feed_forward.up", "feed_forward.down"}) of_block(leaf);
  }
  names.emplace_back("decoder.norm.weight");
  if (shape.llama) names.emplace_back("head.weight");
  return names;
}

// In the arithmetic of the peers, to the bit: fp32 steps in this order.
void fill_uniform(std::span<float> values, uint64_t first, uint64_t seed, float scale) {
  constexpr float kStep = 2.0F / (1 << 24);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = (static_cast<float>(bench_number(first + i, seed) >> 40) * kStep - 1.0F) * scale;
}

}  // namespace

uint64_t bench_number(uint64_t i, uint64_t seed) {
  uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ULL + seed;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

Words bench_case_names() {
  Words names;
  for (const auto& shape : kShapes) names.emplace_back(shape.name);
  return names;
}

RunConfig bench_config(const BenchSettings& settings) {
  const CaseShape& shape = find_shape(settings.name);
  const std::string text =
      fmt::format(kConfig, fmt::arg("dim", shape.dim), fmt::arg("layers", shape.layers), fmt::arg("heads", shape.heads),
                  fmt::arg("kv_heads", shape.kv_heads), fmt::arg("hidden", shape.hidden),
                  fmt::arg("activation", shape.llama ? "silu" : "gelu"), fmt::arg("llama", shape.llama),
                  fmt::arg("norm", shape.llama ? "rms" : "layer"), fmt::arg("position", shape.position),
                  fmt::arg("tied", !shape.llama), fmt::arg("batch", settings.batch.value_or(shape.batch)),
                  fmt::arg("length", shape.length), fmt::arg("precision", settings.precision));
  return load_run_config_text(text, "bench case " + settings.name, {}).config;
}

std::shared_ptr<Task> bench_task(const BenchSettings& settings, const RunConfig& config) {
  const CaseShape& shape = find_shape(settings.name);
  constexpr uint64_t kDataSeed = 7;  // the peers' data seed is this much above their weights'
  const int64_t B = config.train.batch_size, L = config.train.length, row = L + 1;
  const auto tokens = token_stream(kBatches * B * row, shape.vocab, settings.seed + kDataSeed);
  std::vector<Batch> batches;
  for (int64_t n = 0; n < kBatches; ++n) {
    Batch batch{.ids = at::empty({B, L}, at::kLong),
                .targets = at::empty({B, L}, at::kLong),
                .at = consecutive(0, L, at::kCPU),
                .weight = static_cast<double>(B * L)};
    for (int64_t b = 0; b < B; ++b) {
      const int64_t* from = tokens.data() + (n * B + b) * row;
      std::copy_n(from, L, batch.ids.mutable_data_ptr<int64_t>() + b * L);
      std::copy_n(from + 1, L, batch.targets.mutable_data_ptr<int64_t>() + b * L);
      batch.examples.push_back(fmt::format("batch {}, row {}", n, b));
    }
    batches.push_back(std::move(batch));
  }
  return std::make_shared<FixedTask>(std::move(batches), shape.vocab);
}

void fill_bench_weights(Model& model, const BenchSettings& settings) {
  const CaseShape& shape = find_shape(settings.name);
  constexpr double kStd = 0.02;
  const auto scale = static_cast<float>(kStd * std::sqrt(3.0));
  const torch::autograd::AutoGradMode no_gradients(false);
  auto parameters = model.named_parameters();
  uint64_t first = 0;
  for (const auto& name : declaration_order(shape)) {
    const Tensor* parameter = parameters.find(name);
    require(parameter != nullptr, "bench: the model has no parameter '{}'", name);
    if (parameter->dim() < 2) {
      parameter->fill_(1.0);  // gains of norms; they use up their numbers too
    } else {
      const Tensor values = at::empty(parameter->sizes(), at::kFloat);
      fill_uniform({values.mutable_data_ptr<float>(), static_cast<size_t>(values.numel())}, first, settings.seed,
                   scale);
      parameter->copy_(values);
    }
    first += static_cast<uint64_t>(parameter->numel());
  }
  require(parameters.size() == declaration_order(shape).size(), "bench: the model has {} parameters, the case {}",
          parameters.size(), declaration_order(shape).size());
}

double bench_flops(const BenchSettings& settings, const RunConfig& config) {
  const CaseShape& shape = find_shape(settings.name);
  const auto d = static_cast<double>(shape.dim), L = static_cast<double>(shape.length),
             n = static_cast<double>(config.train.batch_size) * L;
  const double projections =
      2 * d * d + 2 * d * d * static_cast<double>(shape.kv_heads) / static_cast<double>(shape.heads);
  const double feed_forward = (shape.llama ? 3 : 2) * d * static_cast<double>(shape.hidden);
  return 6 * n *
         (static_cast<double>(shape.layers) * (projections + feed_forward + L * d) +
          d * static_cast<double>(shape.vocab));
}

}  // namespace ordo::cli
