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

struct Memory {
  int64_t allocated = 0, peak_allocated = 0, reserved = 0, peak_reserved = 0, total = 0, ooms = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual int devices() const = 0;
  virtual std::string describe(int device) const = 0;  // "NVIDIA H200, sm_90, 150.1 GB"
  virtual int capability(int device) const = 0;        // 90 = sm_90
  virtual void use(int device) = 0;
  virtual void synchronize() = 0;
  virtual Memory memory(int device) const = 0;
  virtual void reset_peak(int device) = 0;
  virtual void release_cache() = 0;
  virtual void cap_memory(double fraction, int device) = 0;
  virtual void configure_allocator(const std::string& settings) = 0;
  // Runs f with a side stream current; wait_for_side_stream makes the current stream wait and takes over what was
  // produced there.
  virtual void on_side_stream(const std::function<void()>& f) = 0;
  virtual void wait_for_side_stream(const std::vector<at::Tensor>& produced) = 0;
  virtual double timed_ms(const std::function<void()>& f) = 0;
};

}  // namespace ordo::cuda

extern "C" int ordo_cuda_abi();
extern "C" const char* ordo_cuda_torch();  // the LibTorch it was built for, "2.11.0"
extern "C" ordo::cuda::Backend* ordo_cuda_backend();
