// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/convolution.h"

#include <ATen/ops/conv1d.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/zeros.h>

#include <vector>

namespace ordo {

Convolution::Convolution(int64_t in, int64_t out, const Options& options) : stride_(options.stride) {
  std::vector<int64_t> shape{out, in};
  shape.insert(shape.end(), static_cast<size_t>(options.axes), options.kernel);
  weight = register_parameter("weight", at::zeros(shape));
  if (options.bias) bias = register_parameter("bias", at::zeros({out}));
}

Tensor Convolution::forward(const Tensor& x) const {
  const std::optional<Tensor> added = bias.defined() ? std::optional(bias) : std::nullopt;
  const int64_t around = weight.size(-1) / 2;
  return weight.dim() == 3 ? at::conv1d(x, weight, added, stride_, around)
                           : at::conv2d(x, weight, added, stride_, around);
}

void Convolution::reset(const Initialiser& init, const std::string& path) {
  init.normal(weight, parameter_name(path, "weight"), init.std(weight.numel() / weight.size(0)));
  if (bias.defined()) bias.zero_();
}

}  // namespace ordo
