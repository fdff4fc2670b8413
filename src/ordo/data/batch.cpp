// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/batch.h"

namespace ordo {

namespace {

// Memory that the device can fetch by itself; a page that is not pinned would be copied twice, and the copy would block.
Tensor to_cuda(const Tensor& t, c10::Device device) { return t.pin_memory().to(device, /*non_blocking=*/true); }

}  // namespace

Batch to_device(const Batch& batch, c10::Device device) {
  const auto moved = [&](const Tensor& t) {
    if (!t.defined() || t.device() == device) return t;
    return device.is_cuda() && t.device().is_cpu() ? to_cuda(t, device) : t.to(device);
  };
  Batch there = batch;
  there.ids = moved(batch.ids);
  there.targets = moved(batch.targets);
  there.at.index = moved(batch.at.index);
  there.at.coords = moved(batch.at.coords);
  there.mask.keys = moved(batch.mask.keys);
  there.mask.q_segment = moved(batch.mask.q_segment);
  // One tensor stays one: by that kernels know that queries and keys are packed alike.
  const bool packed_alike = batch.mask.k_segment.is_same(batch.mask.q_segment);
  there.mask.k_segment = packed_alike ? there.mask.q_segment : moved(batch.mask.k_segment);
  return there;
}

const char* split_name(Split split) {
  switch (split) {
    case Split::train: return "train";
    case Split::validation: return "validation";
    case Split::test: return "test";
  }
  return "?";
}

}  // namespace ordo
