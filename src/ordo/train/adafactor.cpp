// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/adafactor.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/square.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

namespace ordo {

namespace {
double root_mean_square(const Tensor& x) { return std::sqrt(at::square(x).mean().item<double>()); }
}  // namespace

void fields(Fields& f, Adafactor::Config& c) {
  f("lr", c.lr, "largest relative step, before the schedule", at_least(0.0));
  f("scale_parameter", c.scale_parameter, "steps are times the root mean square of the parameter");
  f("decay_rate", c.decay_rate, "second moments decay by 1 - t^-decay_rate", within(0.0, 1.0));
  f("clip_threshold", c.clip_threshold, "largest root mean square of an update", above(0.0));
  f("eps", c.eps, "added to squared gradients", above(0.0));
  f("least_scale", c.least_scale, "smallest root mean square that a parameter counts with", above(0.0));
  f("weight_decay", c.weight_decay, "decoupled: weights shrink by lr x weight_decay at each update", at_least(0.0));
  f("decay", c.decay, "what weight decay acts on; matrices: not norms, biases, position tables", kDecays);
}

Adafactor::Adafactor(const Config& config, const OptimizerFacts& facts) : config_(config) {
  for (const auto& p : facts.parameters) {
    const Tensor value = p.value.detach();
    Slot s{p, {}, {}, {}};
    if (value.dim() >= 2) {
      s.rows = at::zeros_like(value.mean(-1));
      s.columns = at::zeros_like(value.mean(-2));
    } else {
      s.second = at::zeros_like(value);
    }
    slots_.push_back(std::move(s));
  }
  if (!slots_.empty())
    step_ = at::zeros({}, slots_.front().parameter.value.options().dtype(at::kFloat).requires_grad(false));
}

// The gradient over the root of its second moment, which this call brings up to date.
Tensor Adafactor::normalised(const Slot& s, const Tensor& gradient, double beta, double eps) {
  const Tensor squared = at::square(gradient) + eps;
  if (s.second.defined()) {
    s.second.lerp_(squared, 1.0 - beta);
    return gradient * at::rsqrt(s.second);
  }
  s.rows.lerp_(squared.mean(-1), 1.0 - beta);
  s.columns.lerp_(squared.mean(-2), 1.0 - beta);
  const Tensor row_factor = at::rsqrt(s.rows / s.rows.mean(-1, /*keepdim=*/true)).unsqueeze(-1);
  return gradient * row_factor * at::rsqrt(s.columns).unsqueeze(-2);
}

void Adafactor::update(const UpdateOptions& options) {
  if (slots_.empty()) return;
  const double t = step_.add_(1).item<double>();
  const double beta = 1.0 - std::pow(t, -config_.decay_rate);
  for (const auto& s : slots_) {
    if (!s.parameter.value.grad().defined()) continue;
    Tensor value = s.parameter.value.detach();
    const Tensor u = normalised(s, s.parameter.value.grad().div_(options.gradient_divisor), beta, config_.eps);
    const double clip = std::max(1.0, root_mean_square(u) / config_.clip_threshold);
    const double scale = config_.scale_parameter ? std::max(config_.least_scale, root_mean_square(value)) : 1.0;
    if (decays(s.parameter.role, config_.decay)) value.mul_(1.0 - options.lr * config_.weight_decay);
    value.add_(u, -options.lr * scale / clip);
  }
}

NamedTensors Adafactor::state() const {
  NamedTensors all;
  for (const auto& s : slots_) {
    const auto& name = s.parameter.name;
    if (s.second.defined()) {
      all.emplace_back(name + ".exp_avg_sq", s.second);
    } else {
      all.emplace_back(name + ".rows", s.rows);
      all.emplace_back(name + ".columns", s.columns);
    }
  }
  if (step_.defined()) all.emplace_back("step", step_);
  return all;
}

}  // namespace ordo
