// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/fusion.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>

#include <cmath>

namespace ordo {

namespace {
constexpr NamedValue kFusionModes[] = {{"add", static_cast<int>(FusionMode::add)},
                                       {"concat", static_cast<int>(FusionMode::concat)}};
constexpr double kConcatStd = 0.02;
}  // namespace

void fields(Fields& f, FusionSettings& c) {
  f("fusion", c.fusion, "how the rows join the input: add them, or project both, W [x ; P] + b", kFusionModes);
  f("position_dim", c.position_dim, "width of the rows; 0: the model's. Added rows of another width are projected",
    within(0, 1 << 20));
}

Fusion::Fusion(const FusionSettings& settings, int64_t dim)
    : mode_(settings.fusion), dim_(dim), width_(settings.position_dim > 0 ? settings.position_dim : dim) {
  if (mode_ == FusionMode::concat) {
    weight_ = register_parameter("weight", at::zeros({dim_, dim_ + width_}));
    bias_ = register_parameter("bias", at::zeros({dim_}));
  } else if (width_ != dim_) {
    weight_ = register_parameter("weight", at::zeros({dim_, width_}));
  }
}

Tensor Fusion::forward(const Tensor& x, const Tensor& rows) const {
  if (!weight_.defined()) return (x + rows).to(x.scalar_type());
  const auto type = rows.scalar_type();
  const Tensor weight = weight_.to(type);
  if (mode_ == FusionMode::add) return (x + at::linear(rows, weight)).to(x.scalar_type());
  const Tensor content = at::linear(x.to(type), weight.slice(1, 0, dim_));
  return (content + at::linear(rows, weight.slice(1, dim_), bias_.to(type))).to(x.scalar_type());
}

void Fusion::reset(const Initialiser& init, const std::string& path) {
  if (!weight_.defined()) return;
  const std::string name = parameter_name(path, "weight");
  if (mode_ == FusionMode::add) return init.normal(weight_, name, 1.0 / std::sqrt(static_cast<double>(width_)));
  weight_.slice(1, 0, dim_).copy_(at::eye(dim_, weight_.options()));
  init.normal(weight_.slice(1, dim_), name, kConcatStd);
  bias_.zero_();
}

}  // namespace ordo
