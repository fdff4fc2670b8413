// SPDX-License-Identifier: Apache-2.0
// Settings of the process as a whole.
#include <ATen/Context.h>
#include <malloc.h>

#include "ordo/ops/device.h"

namespace ordo {

namespace {
// Blocks up to this size stay in the heap for the next step instead of being mapped, zeroed by the kernel and unmapped
// each time; it is also the largest threshold that glibc takes. Larger ones go back at once, so that memory is not
// hoarded.
constexpr int kPooledBlock = 32 << 20;
// How much free memory at the heap's end is kept.
constexpr int kKeptFree = 128 << 20;
}  // namespace

void prepare_process() {
  // Denormals take a hundred times as long; set before the first parallel region, whose threads inherit it.
  at::globalContext().setFlushDenormal(true);
#ifdef M_MMAP_THRESHOLD
  mallopt(M_MMAP_THRESHOLD, kPooledBlock);
  mallopt(M_TRIM_THRESHOLD, kKeptFree);
#endif
}

void allow_tf32(bool allowed) {
  const auto precision = allowed ? at::Float32Precision::TF32 : at::Float32Precision::IEEE;
  at::globalContext().setFloat32Precision(at::Float32Backend::CUDA, at::Float32Op::MATMUL, precision);
}

}  // namespace ordo
