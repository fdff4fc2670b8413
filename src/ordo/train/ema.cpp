// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/ema.h"

#include <ATen/ops/_foreach_lerp.h>
#include <c10/core/GradMode.h>

#include "ordo/checkpoint/checkpoint.h"

namespace ordo {

Ema::Ema(const std::vector<Parameter>& parameters, double decay) : parameters_(parameters), decay_(decay) {
  for (const auto& p : parameters_) shadows_.push_back(p.value.detach().clone());
}

void Ema::update() {
  std::vector<Tensor> values;
  values.reserve(parameters_.size());
  for (const auto& p : parameters_) values.push_back(p.value.detach());
  at::_foreach_lerp_(shadows_, values, 1.0 - decay_);
}

NamedTensors Ema::state() const {
  NamedTensors all;
  for (size_t i = 0; i < shadows_.size(); ++i) all.emplace_back(parameters_[i].name, shadows_[i]);
  return all;
}

void Ema::restore(const NamedTensors& from) { load_into(from, state(), "the averaged weights"); }

void Ema::exchange() {
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < shadows_.size(); ++i) {
    const Tensor live = parameters_[i].value.detach();
    parameters_[i].value.set_data(shadows_[i]);
    shadows_[i] = live;
  }
}

Ema::Scope::Scope(Ema* ema) : ema_(ema) {
  if (ema_ != nullptr) ema_->exchange();
}
Ema::Scope::~Scope() {
  if (ema_ != nullptr) ema_->exchange();
}

}  // namespace ordo
