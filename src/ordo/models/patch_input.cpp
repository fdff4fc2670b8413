// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/patch_input.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>

#include "ordo/models/image_input.h"

namespace ordo {

void fields(Fields& f, PatchInput::Config& c) {
  f("size", c.size, "pixels a side of a patch; must divide both sides of the images", required(within(1, 1 << 12)));
}

PatchInput::PatchInput(const Config& config, const InputFacts& facts)
    : InputLayer(facts.dim, facts.scaled), signal_(facts.signal), size_(config.size) {
  require_images(kKind, signal_);
  require<ConfigError>(size_ >= 1, "a patch has at least one pixel a side, model.input.size is {}", size_);
  require<ConfigError>(signal_.height % size_ == 0 && signal_.width % size_ == 0,
                       "model.input.size ({}) must divide both sides of the images, which have {} rows and {} columns",
                       size_, signal_.height, signal_.width);
  weight = register_parameter("weight", at::zeros({facts.dim, signal_.channels, size_, size_}));
  if (facts.bias) bias = register_parameter("bias", at::zeros({facts.dim}));
}

Embedded PatchInput::forward(const ModelInput& in) {
  const Tensor image = image_of(in, signal_).to(weight.scalar_type());
  const int64_t B = image.size(0), C = signal_.channels, rows = signal_.height / size_, columns = signal_.width / size_;
  const Tensor patches = image.reshape({B, C, rows, size_, columns, size_})
                             .permute({0, 2, 4, 1, 3, 5})
                             .reshape({B, rows * columns, C * size_ * size_});
  const Tensor x = at::linear(patches, weight.flatten(1), bias.defined() ? std::optional(bias) : std::nullopt);
  return {.x = scaled(x), .at = grid_positions(rows, columns, x.device())};
}

void PatchInput::reset(const Initialiser& init, const std::string& path) {
  init.normal(weight, parameter_name(path, "weight"), init.std(weight.numel() / weight.size(0)));
  if (bias.defined()) bias.zero_();
}

}  // namespace ordo
