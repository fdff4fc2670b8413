// SPDX-License-Identifier: Apache-2.0
// Loaded before a program (LD_PRELOAD) it stands where libtorch_cuda.so would register, and says when LibTorch first
// asks for its CUDA hooks: from then on it is too late to open the real ones.
#include <ATen/detail/CUDAHooksInterface.h>

#include <cstdio>

namespace at {
// LibTorch looks for a class of this name.
struct CUDAHooks final : CUDAHooksInterface {
  explicit CUDAHooks(CUDAHooksArgs) { std::fputs("SPY: the CUDA hooks were taken\n", stderr); }
};
REGISTER_CUDA_HOOKS(CUDAHooks)
}  // namespace at
