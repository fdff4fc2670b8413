// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/frame_input.h"

#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include <bit>

#include "ordo/models/signal_text.h"

namespace ordo {

namespace {

constexpr int64_t kMostFramesAToken = 1 << 10;

void check_frames(const FrameInput::Config& c, const SignalFacts& signal) {
  require<ConfigError>(signal.defined() && !signal.image(),
                       "model.input: frames reads frames of numbers, but the data of this task are {}; use {}",
                       signal_kind(signal), inputs_reading(signal));
  const auto n = static_cast<uint64_t>(c.subsample);
  require<ConfigError>(
      std::has_single_bit(n),
      "model.input.subsample ({}) must be a power of 2, as every convolution halves the frames: {} or {}", c.subsample,
      std::bit_floor(n), std::bit_ceil(n));
  require<ConfigError>(c.subsample > 1 || (!c.channels && !c.activation),
                       "model.input.{} is of convolutions, and with model.input.subsample: 1 there are none; leave it "
                       "out, or thin the frames out",
                       c.channels ? "channels" : "activation");
}

// Rows that end in padding: no frame of its stands behind one that is none.
void check_row_ends(const Tensor& keys, int64_t B, int64_t T) {
  const auto [rows, frames] = sizes<2>(keys, "mask.keys [B, T]");
  require(rows == B && frames == T, "mask.keys [{}, {}] does not fit {} rows of {} frames", rows, frames, B, T);
  if (!keys.is_cpu() || T == 0) return;  // elsewhere a look at it would wait for the device
  const bool ends = keys.slice(1, 1).le(keys.slice(1, 0, T - 1)).all().item<bool>();
  require(ends, "frames are padded behind their ends alone: mask.keys has a frame behind padding");
}

}  // namespace

void fields(Fields& f, FrameInput::Config& c) {
  f("subsample", c.subsample, "frames that become one token: a power of 2, each convolution halving them",
    within(1, kMostFramesAToken));
  f("channels", c.channels, "of the convolutions; absent: the model's width", within(1, 1 << 16));
  f("activation", c.activation, "non-linearity behind each convolution; absent: gelu", kActivations);
}

FrameInput::FrameInput(const Config& config, const InputFacts& facts)
    : InputLayer(facts.dim, facts.scaled),
      features_(facts.signal.channels),
      activation_(config.activation.value_or(Activation::gelu)) {
  check_frames(config, facts.signal);
  int64_t width = features_;
  for (int64_t left = config.subsample; left > 1; left /= 2) {
    const int64_t out = config.channels.value_or(facts.dim);
    const Convolution::Options options{.stride = 2, .bias = facts.bias};
    layers_.push_back(register_module(fmt::format("convolution{}", layers_.size()),
                                      std::make_shared<Convolution>(width, out, options)));
    width = out;
  }
  linear_ = register_module("linear", std::make_shared<Linear>(width, facts.dim, Linear::Options{.bias = facts.bias}));
}

int64_t FrameInput::tokens(int64_t length) const {
  const int64_t frames = int64_t{1} << layers_.size();
  return (length + frames - 1) / frames;
}

Embedded FrameInput::forward(const ModelInput& in) {
  const auto [B, T, F] = sizes<3>(in.signal, "frames [B, T, F]");
  require(F == features_, "frames [{}, {}, {}] do not fit a model of frames of {} numbers", B, T, F, features_);
  require(!in.mask.q_segment.defined(), "rows of frames hold one recording each, not several");
  Mask mask = in.mask;
  if (mask.keys.defined()) check_row_ends(mask.keys, B, T);
  Tensor x = in.signal.to(linear_->weight.scalar_type()).transpose(1, 2);
  const auto zero_beyond_ends = [&] {
    if (mask.keys.defined()) x = x.masked_fill(mask.keys.logical_not().unsqueeze(1), 0.0);
  };
  for (const auto& layer : layers_) {
    zero_beyond_ends();
    x = activate(layer->forward(x), activation_);
    if (mask.keys.defined()) mask.keys = mask.keys.slice(1, 0, mask.keys.size(1), 2);
  }
  x = linear_->forward(x.transpose(1, 2));
  return {.x = scaled(x), .at = consecutive(0, x.size(1), x.device()), .mask = mask};
}

// A layer with n others behind it works at 2^(n + 1) / 2 places for each token.
double FrameInput::flops_per_token() const {
  double flops = 2.0 * static_cast<double>(linear_->weight.numel()), places = 1.0;
  for (size_t i = layers_.size(); i-- > 0; places *= 2.0) flops += places * layers_[i]->flops();
  return flops;
}

}  // namespace ordo
