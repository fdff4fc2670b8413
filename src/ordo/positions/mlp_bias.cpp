// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/mlp_bias.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_unique2.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "ordo/positions/offsets.h"
#include "ordo/positions/score_parts.h"

namespace ordo {

void fields(Fields& f, MlpBias::Config& c) {
  f("dim", c.dim, "width of the network's layers; 0: a quarter of the model's", within(0, 1 << 16));
  f("depth", c.depth, "layers before the last one", within(1, 64));
  f("log_distance", c.log_distance, "feed sign(x) ln(1 + |x|) rather than the distance x itself");
  f("norm", c.norm, "LayerNorm in each of the layers before the last one");
}

// Linear, and where asked LayerNorm, and SiLU. The first norm has no offset, since the first Linear has one.
class MlpBias::Layer : public torch::nn::Module, public Resets {
 public:
  struct Options {
    bool norm = false, norm_bias = false, last = false;
  };
  Layer(int64_t in, int64_t out, const Options& options) : last_(options.last) {
    weight_ = register_parameter("weight", at::zeros({out, in}));
    bias_ = register_parameter("bias", at::zeros({out}));
    if (options.norm) gain_ = register_parameter("norm_weight", at::ones({out}));
    if (options.norm && options.norm_bias) offset_ = register_parameter("norm_bias", at::zeros({out}));
  }
  Tensor forward(const Tensor& x) const {
    const auto wide = [&](const Tensor& t) { return t.to(x.scalar_type()); };
    Tensor y = at::linear(x, wide(weight_), wide(bias_));
    if (last_) return y;
    if (gain_.defined())
      y = at::layer_norm(y, {y.size(-1)}, wide(gain_), offset_.defined() ? wide(offset_) : std::optional<Tensor>());
    return at::silu(y);
  }
  // As LibTorch's linear layers start: the distance is one number, and weights of a model's std would hide it.
  void reset(const Initialiser& init, const std::string& path) override {
    const double bound = 1.0 / std::sqrt(static_cast<double>(weight_.size(1)));
    init.uniform(weight_, parameter_name(path, "weight"), -bound, bound);
    init.uniform(bias_, parameter_name(path, "bias"), -bound, bound);
    if (gain_.defined()) gain_.fill_(1.0);
    if (offset_.defined()) offset_.zero_();
  }

 private:
  bool last_;
  Tensor weight_, bias_, gain_, offset_;
};

MlpBias::MlpBias(const Config& config, const PositionFacts& facts) : log_distance_(config.log_distance) {
  const int64_t dim = config.dim > 0 ? config.dim : std::max<int64_t>(1, facts.dim / 4);
  for (int64_t i = 0; i < config.depth; ++i) {
    auto layer =
        std::make_shared<Layer>(i == 0 ? 1 : dim, dim, Layer::Options{.norm = config.norm, .norm_bias = i > 0});
    layers_.push_back(register_module("layer_" + std::to_string(i), std::move(layer)));
  }
  layers_.push_back(register_module("out", std::make_shared<Layer>(dim, facts.heads, Layer::Options{.last = true})));
}

MlpBias::~MlpBias() = default;

Tensor MlpBias::biases(const Tensor& distance, at::ScalarType type) const {
  Tensor x = distance.to(type).unsqueeze(1);
  if (log_distance_) x = x.sign() * x.abs().log1p();
  for (const auto& layer : layers_) x = layer->forward(x);
  return x;
}

// The offsets (key - query) of a call, each once: a run of them, or, when they lie far apart, a sorted list.
struct MlpOffsets {
  Tensor all;  // int64 [n]
  bool run = true;
  Tensor places(const Tensor& offset) const {  // of any of them, in `all`
    return run ? offset - all[0] : at::searchsorted(all, offset.contiguous());
  }
};

namespace {
MlpOffsets mlp_offsets(const Positions& q, const Positions& k) {
  constexpr int64_t kRun = 1 << 17;  // so many are evaluated rather than sorted out
  if (q.index.numel() == 0 || k.index.numel() == 0) return {at::arange(1, q.index.options())};
  const auto [low, high] = offset_range(q, k);
  if (high - low < std::max(kRun, 4 * (q.length() + k.length()))) return {at::arange(low, high + 1, q.index.options())};
  const Tensor pairs = k.index.unsqueeze(1) - q.index.unsqueeze(2);
  return {std::get<0>(at::_unique2(pairs)), /*run=*/false};
}
}  // namespace

// The network is asked once a call, for each offset that occurs; tiles look its answers up.
struct MlpBias::Bias final : OffsetBias {
  Bias(const AttentionPass& pass, MlpOffsets offsets, const Tensor& table)
      : OffsetBias(pass, {table}), offsets_(std::move(offsets)), table_(table) {}
  Tensor at(const Tensor& offset) const override {
    return at::embedding(table_, offsets_.places(offset.squeeze(1))).movedim(-1, 1);
  }

 private:
  MlpOffsets offsets_;
  Tensor table_;  // [n, H]
};

std::shared_ptr<const ScoreBias> MlpBias::scores(const AttentionPass& pass) {
  MlpOffsets offsets = mlp_offsets(pass.q, pass.k);
  const Tensor table = biases(-offsets.all, score_type(pass));
  return std::make_shared<Bias>(pass, std::move(offsets), table);
}

}  // namespace ordo
