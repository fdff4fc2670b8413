// SPDX-License-Identifier: Apache-2.0
#include "ordo/nn/unallocated.h"

#include <utility>

namespace ordo {

namespace {
bool& is_unallocated() {
  thread_local bool unallocated = false;
  return unallocated;
}
}  // namespace

Unallocated::Unallocated(bool unallocated) : before_(std::exchange(is_unallocated(), unallocated)) {}
Unallocated::~Unallocated() { is_unallocated() = before_; }

c10::TensorOptions weight_options() {
  return c10::TensorOptions().device(is_unallocated() ? c10::DeviceType::Meta : c10::DeviceType::CPU);
}

}  // namespace ordo
