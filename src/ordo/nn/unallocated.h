// SPDX-License-Identifier: Apache-2.0
// Models whose weights have shapes alone: they are counted without the memory that they would take.
#pragma once
#include <c10/core/TensorOptions.h>

namespace ordo {

// Within its life, on this thread, linear layers, embeddings and heads are made on LibTorch's meta device: they have
// shapes and types, but no values, and cannot be run. `unallocated` = false: not even within an outer scope.
class Unallocated {
 public:
  explicit Unallocated(bool unallocated = true);
  ~Unallocated();
  Unallocated(const Unallocated&) = delete;
  Unallocated& operator=(const Unallocated&) = delete;

 private:
  bool before_;
};
// What such layers make their weights with.
c10::TensorOptions weight_options();

}  // namespace ordo
