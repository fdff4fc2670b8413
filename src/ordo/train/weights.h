// SPDX-License-Identifier: Apache-2.0
// What is trained of a model, and whether it is finite.
#pragma once
#include <torch/nn/module.h>

#include <optional>
#include <string>
#include <vector>

#include "ordo/train/optimizer.h"

namespace ordo {

// All trained parameters in the order of the modules, tied ones once.
std::vector<Parameter> parameters_of(const torch::nn::Module& model);
// The first tensor in order that holds a NaN or an infinity.
std::optional<std::string> first_nonfinite(const NamedTensors& tensors);

}  // namespace ordo
