// SPDX-License-Identifier: Apache-2.0
// How much memory a run took, and what to say when it was not enough.
#pragma once
#include <c10/core/Device.h>

#include <vector>

#include "ordo/train/run_config.h"

namespace ordo {

// The high-water mark in bytes: what LibTorch held on a CUDA device, the resident set of the process on the CPU.
double peak_memory(c10::Device device);

// What train.recompute drops of this model: one flag a block, true = its insides are made again on the way back.
std::vector<bool> blocks_to_recompute(const RunConfig& config, const Model& model);
// Estimated bytes of activations that one micro-batch holds, under the config's precision and recompute.
double activation_bytes(const RunConfig& config, const Model& model);

// To be called in a catch block: throws the exception at hand again, as a DeviceError with the amount asked for, where
// memory goes and the keys to change when it says that memory ran out, else as it is.
[[noreturn]] void rethrow_explained(const RunConfig& config, const Model& model);

}  // namespace ordo
