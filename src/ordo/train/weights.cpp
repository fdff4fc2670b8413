// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/weights.h"

#include <ATen/ops/isfinite.h>
#include <c10/core/GradMode.h>

namespace ordo {

std::vector<Parameter> parameters_of(const torch::nn::Module& model) {
  std::vector<Parameter> all;
  for (const auto& p : model.named_parameters())
    if (p.value().defined() && p.value().requires_grad())
      all.push_back({p.key(), p.value(), role_of(p.key(), p.value())});
  return all;
}

std::optional<std::string> first_nonfinite(const NamedTensors& tensors) {
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : tensors)
    if (tensor.is_floating_point() && !at::isfinite(tensor).all().item<bool>()) return name;
  return std::nullopt;
}

}  // namespace ordo
