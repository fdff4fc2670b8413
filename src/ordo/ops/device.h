// SPDX-License-Identifier: Apache-2.0
// Which device a command runs on, found out before the first tensor: LibTorch keeps its first answer about CUDA for ever, so
// libtorch_cuda.so must be opened before anything asks (the order: parse, probe, open, then the first tensor).
#pragma once
#include <c10/core/Device.h>

#include <string>

namespace ordo {

namespace cuda { class Backend; }   // cuda/backend.h

// What the driver says, found without LibTorch (dlopen of libcuda.so.1).
struct DriverProbe {
  bool present = false;
  int devices = 0;
  int version = 0;          // 13000 = CUDA 13.0
  std::string why_not;      // one clear sentence when there is no usable device
};
DriverProbe probe_driver();

// `wanted` is auto | cpu | cuda | cuda:N. Opens LibTorch's CUDA side and libordo_cuda.so when a GPU is to be used. `auto` falls to the CPU
// and logs why, once; asking for CUDA in vain throws DeviceError (exit 6) in one sentence. To be called before the first tensor of the process.
c10::Device open_device(const std::string& wanted);
// The opened CUDA side; null on the CPU.
cuda::Backend* cuda_backend();
// Threads for LibTorch (0: as the machine and OMP_NUM_THREADS say), flush-to-zero, allocator settings: once, first thing in main.
void prepare_process();

}  // namespace ordo
