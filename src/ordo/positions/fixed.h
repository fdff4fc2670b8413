// SPDX-License-Identifier: Apache-2.0
// Tensors that encodings fix when they are made: slopes, frequencies, buckets.
#pragma once
#include <memory>
#include <mutex>

#include "ordo/ops/sequence.h"

namespace ordo {

// A tensor without gradient that never changes, made on the CPU and copied once to the device that asks for it. Copies
// of the object share what they hold, and several threads may ask at once.
class FixedTensor {
 public:
  FixedTensor() = default;
  explicit FixedTensor(Tensor value);
  const Tensor& value() const { return value_; }  // as it was made
  Tensor on(const c10::Device& device) const;

 private:
  struct Copy {
    std::mutex making;
    Tensor value;
  };
  Tensor value_;
  std::shared_ptr<Copy> copy_;
};

}  // namespace ordo
