// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/feature_map_input.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/max_pool2d.h>
#include <fmt/format.h>

#include <cmath>

#include "ordo/models/image_input.h"

namespace ordo {

namespace {

constexpr int64_t kMostPools = 16;

void check_feature_map(const FeatureMapInput::Config& c, const SignalFacts& signal) {
  require<ConfigError>(c.pools <= c.layers,
                       "model.input.pools ({}) must not exceed model.input.layers ({}): a map is pooled behind a layer",
                       c.pools, c.layers);
  const int64_t halved = int64_t{1} << c.pools;
  require<ConfigError>(signal.height % halved == 0 && signal.width % halved == 0,
                       "model.input.pools ({}) halves both sides of the images as often, but {} rows and {} columns "
                       "cannot be divided by {}",
                       c.pools, signal.height, signal.width, halved);
}

}  // namespace

void fields(Fields& f, FeatureMapInput::Config& c) {
  f("channels", c.channels, "of all maps but the last, which has as many as the model is wide", within(1, 1 << 16));
  f("layers", c.layers, "convolutions of 3x3 pixels, each followed by the activation", within(1, 64));
  f("pools", c.pools, "layers, the first ones, behind which the largest of each 2x2 values is kept",
    within(0, kMostPools));
  f("activation", c.activation, "non-linearity", kActivations);
}

FeatureMapInput::FeatureMapInput(const Config& config, const InputFacts& facts)
    : InputLayer(facts.dim, facts.scaled), config_(config), signal_(facts.signal) {
  require_images(kKind, signal_);
  check_feature_map(config, signal_);
  int64_t in = signal_.channels;
  for (int64_t i = 0; i < config.layers; ++i) {
    const int64_t out = i + 1 == config.layers ? facts.dim : config.channels;
    const Convolution::Options options{.axes = 2, .bias = facts.bias};
    layers_.push_back(
        register_module(fmt::format("convolution{}", i), std::make_shared<Convolution>(in, out, options)));
    in = out;
  }
}

Tensor FeatureMapInput::map(const Tensor& image) const {
  Tensor x = image;
  for (int64_t i = 0; i < config_.layers; ++i) {
    x = activate(layers_[static_cast<size_t>(i)]->forward(x), config_.activation);
    if (i < config_.pools) x = at::max_pool2d(x, {2, 2});
  }
  return x;
}

Embedded FeatureMapInput::forward(const ModelInput& in) {
  const Tensor map = this->map(image_of(in, signal_).to(layers_.front()->weight.scalar_type()));
  const Tensor x = map.flatten(2).transpose(1, 2);
  return {.x = scaled(x), .at = grid_positions(map.size(2), map.size(3), x.device())};
}

// Layer i works before the pools behind it and after it have thinned its map out: 4 places for each of the next.
double FeatureMapInput::flops_per_token() const {
  double flops = 0.0;
  for (int64_t i = 0; i < config_.layers; ++i) {
    const double places = std::pow(4.0, static_cast<double>(std::max<int64_t>(config_.pools - i, 0)));
    flops += places * layers_[static_cast<size_t>(i)]->flops();
  }
  return flops;
}

}  // namespace ordo
