// SPDX-License-Identifier: Apache-2.0
// A module's weights as named tensors.
#pragma once
#include <torch/nn/module.h>

#include "ordo/checkpoint/safetensors.h"

namespace ordo {

// What a checkpoint's model.safetensors holds: parameters and buffers, live.
NamedTensors weights_of(const torch::nn::Module& model);
// Copies on the CPU: of their own, even of CPU tensors.
NamedTensors copies_of(const NamedTensors& tensors);

}  // namespace ordo
