// SPDX-License-Identifier: Apache-2.0
// Rows with time stamps, for tests of encodings of time.
#pragma once
#include <ATen/ops/tensor.h>

#include <vector>

#include "ordo/ops/sequence.h"

namespace ordo::test {

// One row of stamps whose first token stands at `start`.
inline Positions stamped(const std::vector<double>& times, int64_t start = 0) {
  const auto length = static_cast<int64_t>(times.size());
  Positions at = consecutive(start, length, at::kCPU);
  at.coords = at::tensor(times, at::kDouble).view({1, length, 1});
  return at;
}

}  // namespace ordo::test
