// SPDX-License-Identifier: Apache-2.0
// The devices that tests run on. A binary that uses this opens CUDA before its first case, where there is a GPU.
#pragma once
#include <c10/core/Device.h>

#include <optional>
#include <vector>

namespace ordo::test {

const std::vector<c10::Device>& devices();  // the CPU, and a GPU where one can be used

// The GPU, or nothing after a word that the case is skipped:
//   const auto gpu = require_gpu();
//   if (!gpu) return;
std::optional<c10::Device> require_gpu();

}  // namespace ordo::test
