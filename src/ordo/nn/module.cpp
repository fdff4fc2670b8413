// SPDX-License-Identifier: Apache-2.0
#include "ordo/nn/module.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "ordo/core/hash.h"
#include "ordo/nn/layers.h"

namespace ordo {

void fields(Fields& f, InitConfig& c) {
  f("std", c.std, "standard deviation of weight matrices and embeddings", above(0.0));
  f("scale_residual", c.scale_residual, "residual projections start at std / sqrt(2 x layers), as in GPT-2");
}

double Initialiser::residual_std() const {
  if (!config_.scale_residual) return config_.std;
  return config_.std / std::sqrt(2.0 * static_cast<double>(std::max<int64_t>(layers_, 1)));
}

void Initialiser::normal(const Tensor& parameter, const std::string& name, double std) const {
  draw_normal(parameter, std, key_of(seed_, name));
}

void Initialiser::uniform(const Tensor& parameter, const std::string& name, double low, double high) const {
  draw_uniform(parameter, low, high, key_of(seed_, name));
}

std::string parameter_name(const std::string& path, const std::string& leaf) {
  return path.empty() ? leaf : path + "." + leaf;
}

namespace {
// Goes down through children only: unlike named_modules(), that works on a root that no shared_ptr holds yet, as in a
// model's own constructor.
void initialise_below(torch::nn::Module& module, const std::string& path, const Initialiser& init) {
  auto* own = dynamic_cast<Resets*>(&module);
  ORDO_ASSERT(own || module.named_parameters(/*recurse=*/false).is_empty());
  if (own) own->reset(init, path);
  if (auto* dropout = dynamic_cast<Dropout*>(&module)) dropout->site(key_of(0, path));
  for (const auto& child : module.named_children())
    initialise_below(*child.value(), parameter_name(path, child.key()), init);
}
}  // namespace

void initialise(torch::nn::Module& root, uint64_t seed, const InitConfig& config, int64_t layers) {
  at::NoGradGuard no_grad;
  initialise_below(root, "", Initialiser(seed, config, layers));
}

}  // namespace ordo
