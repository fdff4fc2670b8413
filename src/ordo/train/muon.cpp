// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/muon.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/lerp.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

#include "ordo/train/betas.h"

namespace ordo {

namespace {
bool orthogonalised(const Parameter& p) { return p.role == ParameterRole::matrix && p.value.dim() == 2; }

std::vector<Parameter> muon_share(const std::vector<Parameter>& all, bool matrices) {
  std::vector<Parameter> share;
  std::copy_if(all.begin(), all.end(), std::back_inserter(share),
               [&](const Parameter& p) { return orthogonalised(p) == matrices; });
  return share;
}
}  // namespace

void fields(Fields& f, Muon::Config& c) {
  f("lr", c.lr, "learning rate of hidden matrices, before the schedule", above(0.0));
  f("momentum", c.momentum, "decay of the momentum", below_one());
  f("nesterov", c.nesterov, "look ahead by the momentum");
  f("iterations", c.iterations, "of Newton and Schulz", within(1, 20));
  f("weight_decay", c.weight_decay, "decoupled: weights shrink by lr x weight_decay at each update", at_least(0.0));
  f("decay", c.decay, "what weight decay acts on; matrices: not norms, biases, position tables", kDecays);
  f("adamw_lr", c.adamw_lr, "learning rate of everything else; follows the same schedule", at_least(0.0));
  f("adamw_betas", c.adamw_betas, "decay of the first and the second moment of everything else", below_one());
  f("adamw_eps", c.adamw_eps, "added to the root of the second moment", above(0.0));
}

Muon::Muon(const Config& config, const OptimizerFacts& facts)
    : config_(config),
      matrices_(muon_share(facts.parameters, true)),
      rest_(muon_share(facts.parameters, false), config.decay, config.weight_decay) {
  require_two_betas(config.adamw_betas, kKind);
  for (const auto& p : matrices_) momentum_.push_back(at::zeros_like(p.value.detach()));
}

Tensor Muon::orthogonal(const Tensor& g, int64_t iterations) {
  // Coefficients of the quintic: chosen by the author for the steepest slope at zero, not for convergence to exactly 1.
  constexpr double a = 3.4445, b = -4.7750, c = 2.0315;
  const bool tall = g.size(0) > g.size(1);
  Tensor x = tall ? g.t() : g;
  x = x / (x.norm() + 1e-7);
  for (int64_t i = 0; i < iterations; ++i) {
    const Tensor gram = at::mm(x, x.t());
    x = at::addmm(x, at::addmm(gram, gram, gram, b, c), x, a);
  }
  return tall ? x.t() : x;
}

void Muon::update_matrices(const UpdateOptions& options) {
  for (size_t i = 0; i < matrices_.size(); ++i) {
    const auto& p = matrices_[i];
    if (!p.value.grad().defined()) continue;
    Tensor value = p.value.detach();
    const Tensor gradient = p.value.grad().div_(options.gradient_divisor);
    momentum_[i].lerp_(gradient, 1.0 - config_.momentum);
    const Tensor move = config_.nesterov ? at::lerp(gradient, momentum_[i], config_.momentum) : momentum_[i];
    const double shape =
        std::sqrt(std::max(1.0, static_cast<double>(value.size(0)) / static_cast<double>(value.size(1))));
    if (decays(p.role, config_.decay)) value.mul_(1.0 - options.lr * config_.weight_decay);
    value.add_(orthogonal(move, config_.iterations), -options.lr * shape);
  }
}

void Muon::update(const UpdateOptions& options) {
  update_matrices(options);
  const double adamw_lr = config_.adamw_lr * options.lr / config_.lr;
  for (const auto& g : rest_.advance())
    at::_fused_adamw_(g.values, g.gradients, g.first, g.second, {}, g.steps, adamw_lr, config_.adamw_betas[0],
                      config_.adamw_betas[1], g.weight_decay, config_.adamw_eps, /*amsgrad=*/false, /*maximize=*/false,
                      fused_divisor(options.gradient_divisor, g.values.front()));
}

NamedTensors Muon::state() const {
  NamedTensors all = rest_.state();
  for (size_t i = 0; i < momentum_.size(); ++i) all.emplace_back(matrices_[i].name + ".momentum", momentum_[i]);
  return all;
}

}  // namespace ordo
