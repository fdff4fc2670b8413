// SPDX-License-Identifier: Apache-2.0
// How much memory a run took, and what to say when it was not enough.
#pragma once
#include <c10/core/Device.h>

#include "ordo/train/run_config.h"

namespace ordo {

// The high-water mark in bytes: what LibTorch held on a CUDA device, the resident set of the process on the CPU.
double peak_memory(c10::Device device);

// To be called in a catch block: throws the exception at hand again, as a DeviceError with the amount asked for, where
// memory goes and the keys to change when it says that memory ran out, else as it is.
[[noreturn]] void rethrow_explained(const RunConfig& config, const Model& model);

}  // namespace ordo
