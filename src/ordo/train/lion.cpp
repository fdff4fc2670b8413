// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/lion.h"

#include <ATen/ops/lerp.h>
#include <ATen/ops/zeros_like.h>

#include "ordo/train/betas.h"

namespace ordo {

void fields(Fields& f, Lion::Config& c) {
  f("lr", c.lr, "learning rate, before the schedule", at_least(0.0));
  f("betas", c.betas, "weight of the momentum in the step, and its own decay", below_one());
  f("weight_decay", c.weight_decay, "decoupled: weights shrink by lr x weight_decay at each update", at_least(0.0));
  f("decay", c.decay, "what weight decay acts on; matrices: not norms, biases, position tables", kDecays);
}

Lion::Lion(const Config& config, const OptimizerFacts& facts) : config_(config), parameters_(facts.parameters) {
  require_two_betas(config.betas, kKind);
  for (const auto& p : parameters_) momentum_.push_back(at::zeros_like(p.value.detach()));
}

void Lion::update(const UpdateOptions& options) {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const auto& p = parameters_[i];
    if (!p.value.grad().defined()) continue;
    Tensor value = p.value.detach();
    const Tensor gradient = p.value.grad().div_(options.gradient_divisor);
    const Tensor direction = at::lerp(momentum_[i], gradient, 1.0 - config_.betas[0]).sign_();
    if (decays(p.role, config_.decay)) value.mul_(1.0 - options.lr * config_.weight_decay);
    value.add_(direction, -options.lr);
    momentum_[i].lerp_(gradient, 1.0 - config_.betas[1]);
  }
}

NamedTensors Lion::state() const {
  NamedTensors all;
  for (size_t i = 0; i < momentum_.size(); ++i) all.emplace_back(parameters_[i].name + ".momentum", momentum_[i]);
  return all;
}

}  // namespace ordo
