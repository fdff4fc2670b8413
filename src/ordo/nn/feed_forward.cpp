// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>

#include "ordo/nn/layers.h"

namespace ordo {

namespace {
constexpr NamedValue kActivationNames[] = {{"gelu", static_cast<int>(Activation::gelu)},
                                           {"gelu_tanh", static_cast<int>(Activation::gelu_tanh)},
                                           {"relu", static_cast<int>(Activation::relu)},
                                           {"silu", static_cast<int>(Activation::silu)}};
}  // namespace

constinit const std::span<const NamedValue> kActivations(kActivationNames);

Tensor activate(const Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::gelu:
      return at::gelu(x);
    case Activation::gelu_tanh:
      return at::gelu(x, "tanh");
    case Activation::relu:
      return at::relu(x);
    case Activation::silu:
      return at::silu(x);
  }
  ORDO_ASSERT(false);
  return {};
}

void fields(Fields& f, FeedForwardConfig& c) {
  f("hidden", c.hidden, "width of the inner layer; 0: 4 x dim, or 8/3 x dim (a multiple of 8) when gated",
    within(0, 1 << 24));
  f("activation", c.activation, "non-linearity", kActivations);
  f("gated", c.gated, "multiply by a second projection (SwiGLU with activation: silu)");
}

int64_t FeedForward::width(const FeedForwardConfig& config, int64_t dim) {
  if (config.hidden > 0) return config.hidden;
  if (!config.gated) return 4 * dim;
  constexpr int64_t kMultiple = 8;
  const int64_t wanted = (8 * dim + 2) / 3;  // 8/3 of dim, rounded up
  return (wanted + kMultiple - 1) / kMultiple * kMultiple;
}

FeedForward::FeedForward(const FeedForwardConfig& config, int64_t dim, bool bias, double dropout)
    : activation_(config.activation) {
  const int64_t hidden = width(config, dim);
  if (config.gated)
    gate_ = register_module("gate", std::make_shared<Linear>(dim, hidden, Linear::Options{.bias = bias}));
  up_ = register_module("up", std::make_shared<Linear>(dim, hidden, Linear::Options{.bias = bias}));
  down_ =
      register_module("down", std::make_shared<Linear>(hidden, dim, Linear::Options{.bias = bias, .residual = true}));
  dropout_ = register_module("dropout", std::make_shared<Dropout>(dropout));
}

Tensor FeedForward::forward(const Tensor& x, const Draw& draw) const {
  const Tensor up = up_->forward(x);
  const Tensor inner = gate_ ? activate(gate_->forward(x), activation_) * up : activate(up, activation_);
  return down_->forward(dropout_->forward(inner, draw));
}

}  // namespace ordo
