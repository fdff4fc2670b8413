// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/sgd.h"

#include <ATen/ops/_foreach_zero.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/zeros_like.h>

#include "ordo/train/moments.h"

namespace ordo {

void fields(Fields& f, Sgd::Config& c) {
  f("lr", c.lr, "learning rate, before the schedule", at_least(0.0));
  f("momentum", c.momentum, "share of the last move that is kept; 0: none", below_one());
  f("nesterov", c.nesterov, "look ahead by the momentum");
  f("weight_decay", c.weight_decay, "L2: weight_decay x weight is added to the gradient", at_least(0.0));
  f("decay", c.decay, "what weight decay acts on; matrices: not norms, biases, position tables", kDecays);
}

Sgd::Sgd(const Config& config, const OptimizerFacts& facts) : config_(config), parameters_(facts.parameters) {
  require<ConfigError>(
      !config.nesterov || config.momentum > 0.0,
      "train.optimizer (sgd): nesterov is true but momentum is 0; give momentum, as in 0.9, or drop nesterov");
  for (const auto& p : parameters_) momentum_.push_back(at::zeros_like(p.value.detach()));
}

void Sgd::update(const UpdateOptions& options) {
  // What a run with momentum left behind must not push one that takes it up again.
  if (config_.momentum == 0.0 && !momentum_.empty()) at::_foreach_zero_(momentum_);
  update_group(true, options);
  update_group(false, options);
}

void Sgd::update_group(bool decaying, const UpdateOptions& options) {
  std::vector<Tensor> values, gradients, momentum;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const auto& p = parameters_[i];
    if (!p.value.grad().defined() || decays(p.role, config_.decay) != decaying) continue;
    values.push_back(p.value.detach());
    gradients.push_back(p.value.grad());
    if (config_.momentum > 0.0) momentum.push_back(momentum_[i]);
  }
  if (values.empty()) return;
  // The buffers start at zero, so the first step needs no case of its own.
  at::_fused_sgd_(values, gradients, momentum, decaying ? config_.weight_decay : 0.0, config_.momentum, options.lr,
                  /*dampening=*/0.0, config_.nesterov, /*maximize=*/false, /*is_first_step=*/false,
                  fused_divisor(options.gradient_divisor, values.front()));
}

NamedTensors Sgd::state() const {
  NamedTensors all;
  for (size_t i = 0; i < momentum_.size(); ++i) all.emplace_back(parameters_[i].name + ".momentum", momentum_[i]);
  return all;
}

}  // namespace ordo
