// SPDX-License-Identifier: Apache-2.0
// What the program sees of libordo_cuda.so: no CUDA header in it.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ordo::cuda {

inline constexpr int kAbi = 1;  // compared before any virtual call

class Backend {
 public:
  virtual ~Backend() = default;
  virtual int devices() const = 0;
  virtual std::string describe(int device) const = 0;  // "NVIDIA H200, sm_90, 150.1 GB"
  virtual int capability(int device) const = 0;        // 90 = sm_90
  virtual void use(int device) = 0;
  virtual void synchronize() = 0;                     // waits for all that the device in use was given to do
  virtual int64_t peak_memory(int device) const = 0;  // bytes of tensors at the high-water mark
  virtual void reset_peak(int device) = 0;
  // Runs f with a side stream current; wait_for_side_stream makes the current stream wait and takes over what was
  // produced there.
  virtual void on_side_stream(const std::function<void()>& f) = 0;
  virtual void wait_for_side_stream(const std::vector<at::Tensor>& produced) = 0;
};

}  // namespace ordo::cuda

extern "C" int ordo_cuda_abi();
extern "C" const char* ordo_cuda_torch();  // the LibTorch it was built for, "2.11.0"
extern "C" ordo::cuda::Backend* ordo_cuda_backend();
