// SPDX-License-Identifier: Apache-2.0
#include "ordo/checkpoint/weights.h"

#include <ATen/core/grad_mode.h>

namespace ordo {

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
    const at::Tensor plain = tensor.detach();
    copies.emplace_back(name, plain.is_cpu() ? plain.clone() : plain.cpu());
  }
  return copies;
}

}  // namespace ordo
