// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/weights.h"

#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/stack.h>
#include <c10/core/GradMode.h>

namespace ordo {

std::vector<Parameter> parameters_of(const torch::nn::Module& model) {
  std::vector<Parameter> all;
  for (const auto& p : model.named_parameters())
    if (p.value().defined() && p.value().requires_grad())
      all.push_back({p.key(), p.value(), role_of(p.key(), p.value())});
  return all;
}

NamedTensors weights_of(const torch::nn::Module& model) {
  NamedTensors all;
  for (const auto& p : model.named_parameters())
    if (p.value().defined()) all.emplace_back(p.key(), p.value());
  for (const auto& b : model.named_buffers())
    if (b.value().defined()) all.emplace_back(b.key(), b.value());
  return all;
}

NamedTensors copies_of(const NamedTensors& tensors) {
  const at::NoGradGuard no_grad;
  NamedTensors copies;
  copies.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const Tensor plain = tensor.detach();
    copies.emplace_back(name, plain.is_cpu() ? plain.clone() : plain.cpu());
  }
  return copies;
}

std::optional<std::string> first_nonfinite(const NamedTensors& tensors) {
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : tensors)
    if (tensor.is_floating_point() && !at::isfinite(tensor).all().item<bool>()) return name;
  return std::nullopt;
}

}  // namespace ordo
