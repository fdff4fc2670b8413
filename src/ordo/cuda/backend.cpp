// SPDX-License-Identifier: Apache-2.0
// The host part of libordo_cuda.so: memory, streams and events of LibTorch's CUDA side. Only headers that need neither
// cuBLAS nor cuSPARSE: ATen/cuda/CUDAContext.h, CUDAEvent.h and Exceptions.h want both, and the small installation has
// neither.
#include "ordo/cuda/backend.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <torch/headeronly/version.h>

#include <cstdio>
#include <optional>

namespace ordo::cuda {

namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

c10::DeviceIndex device_index(int device) { return static_cast<c10::DeviceIndex>(device); }

cudaDeviceProp properties(int device) {
  cudaDeviceProp found{};
  C10_CUDA_CHECK(cudaGetDeviceProperties(&found, device));
  return found;
}

// Much cheaper than all properties: asked at every attention call.
int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  C10_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

struct SideStream {
  c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool();
  c10::cuda::CUDAEvent done{};
};

class LibTorchBackend final : public Backend {
 public:
  int devices() const override { return c10::cuda::device_count(); }

  std::string describe(int device) const override {
    const cudaDeviceProp found = properties(device);
    char text[sizeof(found.name) + 64];
    std::snprintf(text, sizeof text, "%s, sm_%d%d, %.1f GB", found.name, found.major, found.minor,
                  static_cast<double>(found.totalGlobalMem) / 1e9);
    return text;
  }
  int capability(int device) const override {
    return 10 * attribute(cudaDevAttrComputeCapabilityMajor, device) +
           attribute(cudaDevAttrComputeCapabilityMinor, device);
  }

  void use(int device) override {
    c10::cuda::set_device(device_index(device));
    side_.reset();  // belongs to the device that was in use before
  }
  void synchronize() override { c10::cuda::device_synchronize(); }

  int64_t peak_memory(int device) const override {
    const auto all = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    return allocator::getDeviceStats(device_index(device)).allocated_bytes[all].peak;
  }
  void reset_peak(int device) override { allocator::resetPeakStats(device_index(device)); }

  void on_side_stream(const std::function<void()>& f) override {
    if (!side_) side_.emplace();
    const c10::cuda::CUDAStreamGuard guard(side_->stream);
    f();
    side_->done.record(side_->stream);
  }
  void wait_for_side_stream(const std::vector<at::Tensor>& produced) override {
    if (!side_) return;
    const c10::cuda::CUDAStream current = c10::cuda::getCurrentCUDAStream();
    side_->done.block(current);
    // The allocator must not hand their memory out again before the stream that reads them is done.
    for (const at::Tensor& tensor : produced) tensor.record_stream(current);
  }

 private:
  std::optional<SideStream> side_;
};

}  // namespace

}  // namespace ordo::cuda

extern "C" int ordo_cuda_abi() { return ordo::cuda::kAbi; }
extern "C" const char* ordo_cuda_torch() { return TORCH_VERSION; }
extern "C" ordo::cuda::Backend* ordo_cuda_backend() {
  // Never destroyed: CUDA may be gone before static objects are.
  static auto* const backend = new ordo::cuda::LibTorchBackend;
  return backend;
}
