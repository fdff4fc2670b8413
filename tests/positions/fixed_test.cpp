// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/ops/tensor.h>
#include <c10/core/InferenceMode.h>

#include "ordo/positions/fixed.h"

namespace ordo::test {

TEST_CASE("fixed tensors: the device that they were made on gets the tensor itself", "[unit]") {
  const FixedTensor fixed(at::tensor({1.0, 2.0}, at::kDouble));
  CHECK(fixed.on(at::kCPU).is_same(fixed.value()));
  CHECK_FALSE(FixedTensor().value().defined());
  CHECK_FALSE(FixedTensor().on(at::kMeta).defined());
}

TEST_CASE("fixed tensors: another device gets one copy, for all that share it", "[unit]") {
  const FixedTensor fixed(at::tensor({1.0, 2.0}, at::kDouble)), shared = fixed;
  const Tensor copy = fixed.on(at::kMeta);
  CHECK(copy.is_meta());
  CHECK(copy.scalar_type() == at::kDouble);
  CHECK(fixed.on(at::kMeta).is_same(copy));
  CHECK(shared.on(at::kMeta).is_same(copy));
}

TEST_CASE("fixed tensors: a copy that evaluation made serves training", "[unit]") {
  const FixedTensor fixed(at::tensor({1.0}, at::kDouble));
  {
    const c10::InferenceMode evaluation;
    fixed.on(at::kMeta);
  }
  CHECK_FALSE(fixed.on(at::kMeta).is_inference());
}

}  // namespace ordo::test
