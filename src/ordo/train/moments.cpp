// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/moments.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <utility>

namespace ordo {

Moments::Moments(const std::vector<Parameter>& parameters, Decay decay, double weight_decay)
    : weight_decay_(weight_decay) {
  for (const auto& p : parameters) {
    const Tensor value = p.value.detach();
    slots_.push_back({p.name, p.value, at::zeros_like(value), at::zeros_like(value), decays(p.role, decay)});
  }
  if (!slots_.empty()) step_ = at::zeros({}, slots_.front().value.options().dtype(at::kFloat).requires_grad(false));
}

std::vector<Moments::Group> Moments::advance() {
  if (slots_.empty()) return {};
  step_.add_(1);
  std::vector<Group> groups(2);
  groups[0].weight_decay = weight_decay_;
  for (const auto& s : slots_) {
    if (!s.value.grad().defined()) continue;
    Group& g = groups[s.decays ? 0 : 1];
    g.values.push_back(s.value.detach());
    g.gradients.push_back(s.value.grad());
    g.first.push_back(s.first);
    g.second.push_back(s.second);
    g.steps.push_back(step_);
  }
  std::erase_if(groups, [](const Group& g) { return g.values.empty(); });
  return groups;
}

NamedTensors Moments::state() const {
  NamedTensors all;
  for (const auto& s : slots_) {
    all.emplace_back(s.name + ".exp_avg", s.first);
    all.emplace_back(s.name + ".exp_avg_sq", s.second);
  }
  if (step_.defined()) all.emplace_back("step", step_);
  return all;
}

std::optional<Tensor> fused_divisor(double divisor, const Tensor& like) {
  if (divisor == 1.0) return std::nullopt;
  return at::full({}, divisor, like.options().dtype(at::kFloat).requires_grad(false));
}

}  // namespace ordo
