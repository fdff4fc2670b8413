// SPDX-License-Identifier: Apache-2.0
#include "ordo/nn/layers.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "ordo/nn/rms_norm.h"
#include "ordo/nn/unallocated.h"

namespace ordo {

namespace {
constexpr NamedValue kNormKindNames[] = {{"layer", static_cast<int>(NormKind::layer)},
                                         {"rms", static_cast<int>(NormKind::rms)}};
std::optional<Tensor> if_defined(const Tensor& t) { return t.defined() ? std::optional<Tensor>(t) : std::nullopt; }
}  // namespace

constinit const std::span<const NamedValue> kNormKinds(kNormKindNames);

Linear::Linear(int64_t in, int64_t out, const Options& options) : residual_(options.residual) {
  weight = register_parameter("weight", at::zeros({out, in}, weight_options()));
  if (options.bias) bias = register_parameter("bias", at::zeros({out}, weight_options()));
}

Tensor Linear::forward(const Tensor& x) const { return at::linear(x, weight, if_defined(bias)); }

void Linear::reset(const Initialiser& init, const std::string& path) {
  init.normal(weight, parameter_name(path, "weight"),
              residual_ ? init.residual_std(weight.size(1)) : init.std(weight.size(1)));
  if (bias.defined()) bias.zero_();
}

Embedding::Embedding(int64_t vocab_size, int64_t dim) {
  weight = register_parameter("weight", at::zeros({vocab_size, dim}, weight_options()));
}

Tensor Embedding::forward(const Tensor& ids) const { return at::embedding(weight, ids); }

void Embedding::reset(const Initialiser& init, const std::string& path) {
  init.normal(weight, parameter_name(path, "weight"), init.embedding_std());
}

Norm::Norm(int64_t dim, NormKind kind, bool with_bias, double eps) : kind_(kind), eps_(eps) {
  weight = register_parameter("weight", at::ones({dim}));
  if (with_bias && kind == NormKind::layer) bias = register_parameter("bias", at::zeros({dim}));
}

Tensor Norm::forward(const Tensor& x) const {
  const int64_t dim = weight.size(0);
  if (kind_ == NormKind::layer) return at::layer_norm(x, {dim}, weight, if_defined(bias), eps_);
  return rms_norm(x, weight, eps_);
}

void Norm::reset(const Initialiser& init, const std::string& path) {
  (void)init, (void)path;
  weight.fill_(1.0);
  if (bias.defined()) bias.zero_();
}

Tensor Dropout::forward(const Tensor& x, const Draw& draw) const { return active() ? dropout(x, p_, key(draw)) : x; }

Tensor DropPath::forward(const Tensor& branch, const Draw& draw) const {
  if (!active()) return branch;
  std::vector<int64_t> rows(static_cast<size_t>(branch.dim()), 1);
  rows[0] = branch.size(0);
  const auto wide = branch.options().dtype(accumulate_type(branch.scalar_type())).requires_grad(false);
  return (branch * dropout_mask(rows, p(), key(draw), wide)).to(branch.scalar_type());
}

}  // namespace ordo
