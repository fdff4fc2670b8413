// SPDX-License-Identifier: Apache-2.0
#include "ordo/nn/module.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "ordo/config/config.h"
#include "ordo/core/hash.h"
#include "ordo/nn/layers.h"

namespace ordo {

namespace {
constexpr NamedValue kInitKinds[] = {{"normal", static_cast<int>(InitKind::normal)},
                                     {"lecun_normal", static_cast<int>(InitKind::lecun_normal)}};
constexpr double kDefaultStd = 0.02;
}  // namespace

void fields(Fields& f, InitConfig& c) {
  f("kind", c.kind, "one standard deviation for all weights, or 1 / sqrt(inputs) for matrices and 1 for embeddings",
    kInitKinds);
  f("std", c.std, "standard deviation of weight matrices and embeddings, of kind normal; absent: 0.02", above(0.0));
  f("embedding_std", c.embedding_std, "standard deviation of token embeddings; absent: as the kind says", above(0.0));
  f("scale_residual", c.scale_residual, "residual projections start smaller by sqrt(2 x layers), as in GPT-2");
}

void check(const InitConfig& c, const std::string& path, Problems& problems) {
  if (c.kind == InitKind::lecun_normal && c.std)
    problems.add(path + ".std",
                 "{}.std ({}) has no meaning with {}.kind: lecun_normal, where each matrix has 1 / sqrt(its inputs); "
                 "leave it out, or take kind: normal",
                 path, *c.std, path);
}

double Initialiser::std(int64_t inputs) const {
  if (config_.kind == InitKind::lecun_normal) return 1.0 / std::sqrt(static_cast<double>(inputs));
  return config_.std.value_or(kDefaultStd);
}

double Initialiser::residual_std(int64_t inputs) const {
  if (!config_.scale_residual) return std(inputs);
  return std(inputs) / std::sqrt(2.0 * static_cast<double>(std::max<int64_t>(layers_, 1)));
}

double Initialiser::embedding_std() const { return config_.embedding_std.value_or(std(/*inputs=*/1)); }

void Initialiser::normal(const Tensor& parameter, const std::string& name, double std) const {
  if (parameter.is_meta()) return;  // nothing to fill, and drawing would take its memory
  draw_normal(parameter, std, key_of(seed_, name));
}

void Initialiser::uniform(const Tensor& parameter, const std::string& name, double low, double high) const {
  if (parameter.is_meta()) return;
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
