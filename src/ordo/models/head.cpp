// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>

#include "ordo/models/model.h"
#include "ordo/nn/unallocated.h"

namespace ordo {

Head::Head(int64_t dim, int64_t outputs, std::optional<double> softcap, bool bias) : tied_(false), softcap_(softcap) {
  weight_ = register_parameter("weight", at::zeros({outputs, dim}, weight_options()));
  if (bias) bias_ = register_parameter("bias", at::zeros({outputs}, weight_options()));
}

Head::Head(const Tensor& tied, std::optional<double> softcap) : weight_(tied), tied_(true), softcap_(softcap) {}

Tensor Head::logits(const Tensor& hidden) const {
  const Tensor raw = at::linear(hidden, weight_, bias_);
  const Tensor logits = raw.to(accumulate_type(raw.scalar_type()));
  return softcap_ ? (logits / *softcap_).tanh() * *softcap_ : logits;
}

Tensor Head::loss(const Tensor& hidden, const Tensor& targets, LossOptions options) const {
  options.softcap = softcap_;
  return fused_loss(hidden.reshape({-1, hidden.size(-1)}), weight_, bias_, targets.reshape({-1}), options);
}

Tensor Head::token_losses(const Tensor& hidden, const Tensor& targets, Tensor* correct) const {
  const Tensor losses = ordo::token_losses(hidden.reshape({-1, hidden.size(-1)}), weight_, bias_, targets.reshape({-1}),
                                           {.softcap = softcap_}, correct);
  if (correct != nullptr) *correct = correct->view(targets.sizes());
  return losses.view(targets.sizes());
}

void Head::reset(const Initialiser& init, const std::string& path) {
  if (!tied_) init.normal(weight_, parameter_name(path, "weight"), init.std(weight_.size(1)));
  if (bias_.defined()) bias_.zero_();
}

Tensor Model::pooled(const ModelInput& in) {
  (void)in;
  throw ConfigError(
      "this model writes tokens and has no vector of a whole row, which classes and values are read from; use "
      "model.kind: encoder, decoder or cnn, or lstm and gru without cross_attention");
}

}  // namespace ordo
