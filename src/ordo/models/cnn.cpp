// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/cnn.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/glu.h>
#include <ATen/ops/zeros.h>
#include <fmt/core.h>

#include <limits>
#include <set>

#include "ordo/config/config.h"
#include "ordo/nn/unallocated.h"

namespace ordo {

namespace {

constexpr NamedValue kCnnActivationNames[] = {{"gated", static_cast<int>(CnnActivation::gated)},
                                              {"relu", static_cast<int>(CnnActivation::relu)}};
constexpr int64_t kMostDilation = 1 << 15;  // the zeros before a row cost memory

CnnConfig checked_cnn(const CnnConfig& config, const ModelFacts& facts) {
  Problems problems;
  check(config, "model", problems);
  if (config.features && !facts.pools)
    problems.add("model.features",
                 "model.features makes one vector of a whole row, but this task asks of each token: leave it out");
  if (config.layers == 0 && !facts.pools)
    problems.add("model.layers",
                 "model.layers: 0 leaves each token alone, and this task asks of each token: give it layers (0 is for "
                 "tasks that ask of whole rows, which model.features then reads)");
  problems.throw_if_any();
  return config;
}

// Convolves rows of tokens, [N, T, D] -> [N, T', D'].
Tensor convolve_rows(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t padding, int64_t dilation) {
  return at::conv1d(x.transpose(1, 2), weight, bias.defined() ? std::optional(bias) : std::nullopt, /*stride=*/1,
                    padding, dilation)
      .transpose(1, 2);
}

// The `count` columns of x [N, count + T, D] that end with each row's last token.
Tensor last_columns(const Tensor& x, int64_t count, const DocumentRows* rows) {
  if (rows == nullptr) return x.slice(1, x.size(1) - count);
  const Tensor lengths = rows->lengths.to(x.device()).unsqueeze(1);
  const Tensor columns = lengths + at::arange(count, lengths.options()).unsqueeze(0);
  return x.gather(1, columns.unsqueeze(2).expand({-1, -1, x.size(2)}));
}

int64_t inputs_of(const Tensor& weight) { return weight.size(1) * weight.size(2); }

}  // namespace

void fields(Fields& f, FeatureConfig& c) {
  f("widths", c.widths, "tokens that a convolution sees; there is one for each width", within(1, 1024));
  f("filters", c.filters, "features of each width", within(1, 1 << 20));
}

void fields(Fields& f, Cnn::Config& c) {
  fields(f, static_cast<BaselineConfig&>(c));
  f("layers", c.layers, "number of residual blocks; 0: features alone (TextCNN)", required(within(0, 10000)));
  f("causal", c.causal, "a token sees itself and what stands before it; false: both sides");
  f("kernel", c.kernel, "tokens that a block's convolution sees; with causal: false an odd number", within(1, 1024));
  f("dilation", c.dilation,
    "steps between those tokens, a pattern over the layers; none: 1, 2, 4, ... as far as a training row reaches",
    within(1, kMostDilation));
  f("activation", c.activation, "of the blocks: half of the channels gate the others, or relu",
    Names(kCnnActivationNames));
  f("features", c.features,
    "of tasks that ask of a whole row, with pool: automatic: parallel convolutions and their maxima over the row; "
    "absent: widths 3, 4, 5 with 100 filters each");
}

void check(const CnnConfig& c, const std::string& path, Problems& problems) {
  check(static_cast<const BaselineConfig&>(c), path, problems);
  if (!c.causal && c.kernel % 2 == 0)
    problems.add(
        path + ".kernel",
        "{0}.kernel ({1}) must be odd where a token sees as far to both sides ({0}.causal: false); make it {2} "
        "or {3}",
        path, c.kernel, c.kernel - 1, c.kernel + 1);
  if (std::ssize(c.dilation) > std::max<int64_t>(c.layers, 1))
    problems.add(path + ".dilation", "{0}.dilation has {1} entries, but there are only {0}.layers ({2}) to share them",
                 path, c.dilation.size(), c.layers);
  if (!c.features) return;
  if (c.pool != Pool::automatic)
    problems.add(path + ".features", "{0}.features and {0}.pool both make one vector of a row: leave one of them out",
                 path);
  const std::set<int64_t> different(c.features->widths.begin(), c.features->widths.end());
  if (different.empty() || different.size() < c.features->widths.size())
    problems.add(path + ".features.widths", "{}.features.widths needs one width or more, each of them once", path);
}

// ---- blocks ----

CnnBlock::CnnBlock(const Options& options) : options_(options) {
  const int64_t D = options.dim, made = options.activation == CnnActivation::gated ? 2 * D : D;
  norm_ = register_module("norm", std::make_shared<Norm>(D, NormKind::layer, options.bias));
  weight_ = register_parameter("weight", at::zeros({made, D, options.kernel}, weight_options()));
  if (options.bias) bias_ = register_parameter("bias", at::zeros({made}, weight_options()));
  out_ =
      register_module("out", std::make_shared<Linear>(D, D, Linear::Options{.bias = options.bias, .residual = true}));
  drop_ = register_module("dropout", std::make_shared<Dropout>(options.dropout));
}

void CnnBlock::reset(const Initialiser& init, const std::string& path) {
  init.normal(weight_, parameter_name(path, "weight"), init.std(inputs_of(weight_)));
  if (bias_.defined()) bias_.zero_();
}

Tensor CnnBlock::forward(const Tensor& x, const DocumentRows* rows, Tensor& state, const Draw& draw) const {
  Tensor h = norm_->forward(x);
  if (options_.causal) {
    const Tensor before =
        state.defined() ? state.to(h.scalar_type()) : at::zeros({h.size(0), reach(), h.size(2)}, h.options());
    h = at::cat({before, h}, 1);
    state = last_columns(h, reach(), rows);
  } else if (rows != nullptr) {
    h = h.masked_fill(rows->keys.logical_not().unsqueeze(2), 0.0);  // as the zeros beside the longest row
  }
  h = convolve_rows(h, weight_, bias_, options_.causal ? 0 : reach() / 2, options_.dilation);
  h = options_.activation == CnnActivation::gated ? at::glu(h, 2) : h.relu();
  return x + drop_->forward(out_->forward(h), draw);
}

// ---- features ----

RowFeatures::RowFeatures(const FeatureConfig& config, int64_t dim, bool bias) {
  for (const int64_t width : config.widths) {
    weights_.push_back(
        register_parameter(fmt::format("weight{}", width), at::zeros({config.filters, dim, width}, weight_options())));
    biases_.push_back(
        bias ? register_parameter(fmt::format("bias{}", width), at::zeros({config.filters}, weight_options()))
             : Tensor());
  }
}

int64_t RowFeatures::width() const { return std::ssize(weights_) * weights_.front().size(0); }

Tensor RowFeatures::forward(const Tensor& x, const DocumentRows* rows) const {
  std::vector<Tensor> features;
  for (size_t i = 0; i < weights_.size(); ++i) {
    const int64_t around = weights_[i].size(2) - 1;
    Tensor h = convolve_rows(x, weights_[i], biases_[i], around, /*dilation=*/1);  // [N, T + around, filters]
    if (rows != nullptr) {
      const Tensor windows = at::arange(h.size(1), at::TensorOptions(at::kLong).device(h.device())).unsqueeze(0);
      const Tensor beyond = windows >= (rows->lengths.to(h.device()) + around).unsqueeze(1);
      h = h.masked_fill(beyond.unsqueeze(2), -std::numeric_limits<float>::infinity());
    }
    features.push_back(h.amax(1).relu());  // of the largest value, which is the largest of relu's
  }
  return at::cat(features, 1);
}

double RowFeatures::flops() const {
  double all = 0.0;
  for (const Tensor& weight : weights_) all += 2.0 * static_cast<double>(weight.numel());
  return all;
}

void RowFeatures::reset(const Initialiser& init, const std::string& path) {
  for (size_t i = 0; i < weights_.size(); ++i) {
    const std::string name = fmt::format("weight{}", weights_[i].size(2));
    init.normal(weights_[i], parameter_name(path, name), init.std(inputs_of(weights_[i])));
    if (biases_[i].defined()) biases_[i].zero_();
  }
}

// ---- the model ----

Cnn::Cnn(const Config& config, const ModelFacts& facts)
    : BaselineModel(checked_cnn(config, facts), facts), config_(config) {
  const auto list = register_module("blocks", std::make_shared<torch::nn::Module>());
  for (int64_t i = 0; i < config.layers; ++i)
    blocks_.push_back(list->register_module(
        std::to_string(i), std::make_shared<CnnBlock>(CnnBlock::Options{.dim = config.dim,
                                                                        .kernel = config.kernel,
                                                                        .dilation = dilation(i),
                                                                        .causal = config.causal,
                                                                        .bias = config.bias,
                                                                        .activation = config.activation,
                                                                        .dropout = config.dropout})));
  if (config.layers > 0)
    norm_ = register_module("norm", std::make_shared<Norm>(config.dim, NormKind::layer, config.bias));
  std::optional<int64_t> width;
  if (facts.pools && config.pool == Pool::automatic) {
    features_ = register_module(
        "features", std::make_shared<RowFeatures>(config.features.value_or(FeatureConfig{}), config.dim, config.bias));
    dropout_ = register_module("dropout", std::make_shared<Dropout>(config.dropout));
    width = features_->width();
  }
  build_head(config, facts, width);
  initialise(*this, facts.seed, config.init, config.layers);
}

int64_t Cnn::dilation(int64_t layer) const {
  const auto& pattern = config_.dilation;
  if (!pattern.empty()) return pattern[static_cast<size_t>(layer) % pattern.size()];
  // Doubling ends where a convolution sees the whole of a training row: more would be zeros alone.
  int64_t made = 1;
  for (int64_t i = 0; i < layer && (config_.kernel - 1) * made < max_length(); ++i) made *= 2;
  return made;
}

Tensor Cnn::run(const Tensor& x, const DocumentRows* rows, States& states, const Draw& draw) {
  states.resize(causal() ? blocks_.size() : 0);
  Tensor none, h = x;
  for (size_t i = 0; i < blocks_.size(); ++i) h = blocks_[i]->forward(h, rows, causal() ? states[i] : none, draw);
  return norm_ ? norm_->forward(h) : h;
}

Tensor Cnn::pool(const Tensor& hidden, const Tensor& keys, const Draw& draw) {
  if (!features_) return BaselineModel::pool(hidden, keys, draw);
  const auto rows = documents_of({.keys = keys}, hidden);
  if (!rows) return dropout_->forward(features_->forward(hidden, nullptr), draw);
  const Tensor found = features_->forward(rows->gathered(hidden), &*rows);
  const Tensor all = at::zeros({hidden.size(0), found.size(1)}, found.options());  // a row without a token: zeros
  return dropout_->forward(all.index_copy(0, rows->row, found), draw);
}

ModelCost Cnn::layers_cost(int64_t tokens) const {
  (void)tokens;
  const auto D = static_cast<double>(config_.dim), K = static_cast<double>(config_.kernel);
  const double made = config_.activation == CnnActivation::gated ? 2.0 : 1.0,
               layers = static_cast<double>(config_.layers);
  constexpr double kBytes = 4.0;
  ModelCost total{.flops_per_token = layers * 2.0 * D * D * (made * K + 1.0),
                  // of a block: its input, what is convolved and what that gives, what is projected; then the last norm
                  .activation_bytes_per_token = kBytes * D * (layers * (3.0 + made) + 1.0)};
  if (!features_) return total;
  total.flops_per_token += features_->flops();
  total.activation_bytes_per_token += kBytes * static_cast<double>(features_->width());
  return total;
}

}  // namespace ordo
