// SPDX-License-Identifier: Apache-2.0
// Which device a command runs on, found out before the first tensor: LibTorch keeps its first answer about CUDA for
// ever, so libtorch_cuda.so must be opened before anything asks (the order: parse, probe, open, then the first tensor).
#pragma once
#include <c10/core/Device.h>

#include <optional>
#include <string>

namespace ordo {

namespace cuda {
class Backend;
}  // namespace cuda

// What the driver says, found without LibTorch (dlopen of libcuda.so.1). It starts the driver: the process must not
// fork afterwards.
struct DriverProbe {
  bool present = false;  // the driver's library is there
  int devices = 0;
  int version = 0;           // 13000 = CUDA 13.0
  std::string why_not = {};  // one clear sentence when there is no usable device
  bool usable() const { return why_not.empty(); }
};
DriverProbe probe_driver();

// What `device:` may say: auto | cpu | cuda | cuda:N. Throws ConfigError for anything else.
struct DeviceRequest {
  enum class Kind { any, cpu, cuda } kind = Kind::any;
  std::optional<int> index = {};  // cuda:N
};
DeviceRequest read_device(const std::string& text);
// The GPU that a request means under what the driver says: its number, or nothing for the CPU (why it is the CPU then
// stands in driver.why_not). Throws DeviceError when a GPU was asked for and there is none, or not that one.
std::optional<int> choose_device(const DeviceRequest& request, const DriverProbe& driver);

// `wanted` is auto | cpu | cuda | cuda:N. Opens LibTorch's CUDA side and libordo_cuda.so when a GPU is to be used.
// `auto` falls to the CPU and logs why, once; asking for CUDA in vain throws DeviceError (exit 6) in one sentence. To
// be called before the first tensor of the process.
c10::Device open_device(const std::string& wanted);
// The opened CUDA side; null on the CPU.
cuda::Backend* cuda_backend();
// What open_device does once it has decided: libtorch_cuda.so from LibTorch's folder, libordo_cuda.so from the
// program's, their versions, the hooks. Throws DeviceError. `at_first_call` binds functions late, so that the libraries
// open where NVIDIA's are empty stand-ins (tests).
enum class Binding { now, at_first_call };
cuda::Backend& open_cuda_libraries(Binding binding = Binding::now);
// For `ordo doctor`: whether libordo_cuda.so stands beside the program, and what to do if not.
std::string plugin_state();

// Flush-to-zero and allocator settings: once, first thing in main.
void prepare_process();
// Matrix products of fp32 tensors on CUDA may round their factors to TF32 (10 bits of mantissa): faster, less exact;
// off unless allowed.
void allow_tf32(bool allowed);

}  // namespace ordo
