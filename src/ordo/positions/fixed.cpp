// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/fixed.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/InferenceMode.h>

namespace ordo {

FixedTensor::FixedTensor(Tensor value) : value_(std::move(value)), copy_(std::make_shared<Copy>()) {}

Tensor FixedTensor::on(const c10::Device& device) const {
  if (!value_.defined() || value_.device() == device) return value_;
  const std::lock_guard lock(copy_->making);
  if (!copy_->value.defined() || copy_->value.device() != device) {
    const c10::InferenceMode ordinary(false);  // the copy outlives the call: training may save it for backward
    const at::NoGradGuard no_grad;
    copy_->value = value_.to(device);
  }
  return copy_->value;
}

}  // namespace ordo
