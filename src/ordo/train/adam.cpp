// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/adam.h"

#include <ATen/ops/_fused_adam.h>

#include "ordo/train/betas.h"

namespace ordo {

void fields(Fields& f, Adam::Config& c) {
  f("lr", c.lr, "learning rate, before the schedule", at_least(0.0));
  f("betas", c.betas, "decay of the first and the second moment", below_one());
  f("eps", c.eps, "added to the root of the second moment", above(0.0));
  f("weight_decay", c.weight_decay, "L2: weight_decay x weight is added to the gradient", at_least(0.0));
  f("decay", c.decay, "what weight decay acts on; matrices: not norms, biases, position tables", kDecays);
}

Adam::Adam(const Config& config, const OptimizerFacts& facts)
    : config_(config), moments_(facts.parameters, config.decay, config.weight_decay) {
  require_two_betas(config.betas, kKind);
}

void Adam::update(const UpdateOptions& options) {
  for (const auto& g : moments_.advance())
    at::_fused_adam_(g.values, g.gradients, g.first, g.second, {}, g.steps, options.lr, config_.betas[0],
                     config_.betas[1], g.weight_decay, config_.eps, /*amsgrad=*/false, /*maximize=*/false,
                     fused_divisor(options.gradient_divisor, g.values.front()));
}

}  // namespace ordo
