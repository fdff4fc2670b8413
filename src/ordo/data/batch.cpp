// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/batch.h"

#include "ordo/cuda/backend.h"
#include "ordo/ops/device.h"

namespace ordo {

namespace {

// From memory that the device can fetch by itself; a page that is not pinned would be copied twice, and the copy would
// block.
Tensor moved(const Tensor& t, c10::Device device) {
  if (!t.defined() || t.device() == device) return t;
  const bool upload = device.is_cuda() && t.device().is_cpu();
  return upload ? t.pin_memory().to(device, /*non_blocking=*/true) : t.to(device);
}

Batch moved_batch(const Batch& batch, c10::Device device) {
  Batch there = batch;
  EncoderInput& source = there.source;
  for (Tensor* t :
       {&there.ids, &there.targets, &there.at.index, &there.at.coords, &there.mask.keys, &there.mask.q_segment,
        &source.ids, &source.at.index, &source.at.coords, &source.keys, &there.signal, &there.types})
    *t = moved(*t, device);
  // One tensor stays one: by that kernels know that queries and keys are packed alike.
  const bool packed_alike = batch.mask.k_segment.is_same(batch.mask.q_segment);
  there.mask.k_segment = packed_alike ? there.mask.q_segment : moved(batch.mask.k_segment, device);
  return there;
}

std::vector<Tensor> tensors_of(const Batch& batch) {
  std::vector<Tensor> found;
  const EncoderInput& source = batch.source;
  for (const Tensor& t :
       {batch.ids, batch.targets, batch.at.index, batch.at.coords, batch.mask.keys, batch.mask.q_segment,
        batch.mask.k_segment, source.ids, source.at.index, source.at.coords, source.keys, batch.signal, batch.types})
    if (t.defined()) found.push_back(t);
  return found;
}

}  // namespace

int64_t Batch::tokens() const {
  if (signal.defined()) return signal.dim() == 4 ? signal.numel() / signal.size(1) : signal.numel() / signal.size(2);
  return std::max(ids.numel(), source.defined() ? source.ids.numel() : 0);
}

Batch to_device(const Batch& batch, c10::Device device) {
  if (!device.is_cuda() || cuda_backend() == nullptr) return moved_batch(batch, device);
  // On a stream of its own, so that the copy does not queue behind the step that is still being computed.
  Batch there;
  cuda_backend()->on_side_stream([&] { there = moved_batch(batch, device); });
  cuda_backend()->wait_for_side_stream(tensors_of(there));
  return there;
}

const char* split_name(Split split) {
  switch (split) {
    case Split::train:
      return "train";
    case Split::validation:
      return "validation";
    case Split::test:
      return "test";
  }
  return "?";
}

}  // namespace ordo
