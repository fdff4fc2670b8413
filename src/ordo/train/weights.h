// SPDX-License-Identifier: Apache-2.0
// A model's weights as named tensors.
#pragma once
#include <torch/nn/module.h>

#include <optional>
#include <string>
#include <vector>

#include "ordo/train/optimizer.h"

namespace ordo {

// All trained parameters in the order of the modules, tied ones once.
std::vector<Parameter> parameters_of(const torch::nn::Module& model);
// What a checkpoint's model.safetensors holds: parameters and buffers, live.
NamedTensors weights_of(const torch::nn::Module& model);
// Copies on the CPU: of their own, even of CPU tensors.
NamedTensors copies_of(const NamedTensors& tensors);
// The first tensor in order that holds a NaN or an infinity.
std::optional<std::string> first_nonfinite(const NamedTensors& tensors);

}  // namespace ordo
