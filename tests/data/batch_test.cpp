// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/batch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>

#include "support/devices.h"
#include "support/tolerance.h"

using ordo::Batch;
using ordo::test::same_bytes;

namespace {
Batch packed_batch() {
  Batch batch;
  batch.ids = at::arange(12, at::kLong).view({2, 6});
  batch.targets = batch.ids + 1;
  batch.at = ordo::consecutive(0, 6, at::kCPU);
  batch.mask.q_segment = batch.mask.k_segment = batch.ids.div(4, "floor");
  return batch;
}
}  // namespace

TEST_CASE("batch: segments that queries and keys share are still one tensor on another device", "[unit]") {
  const Batch there = ordo::to_device(packed_batch(), at::kMeta);
  CHECK(there.ids.device() == at::kMeta);
  CHECK(there.mask.k_segment.is_same(there.mask.q_segment));
}

TEST_CASE("batch: segments of keys alone move by themselves", "[unit]") {
  Batch batch = packed_batch();
  batch.mask.k_segment = batch.mask.k_segment.clone();
  const Batch there = ordo::to_device(batch, at::kMeta);
  CHECK_FALSE(there.mask.k_segment.is_same(there.mask.q_segment));
  CHECK(there.mask.k_segment.device() == at::kMeta);
}

TEST_CASE("batch: where it is already, nothing is copied", "[unit]") {
  Batch batch = packed_batch();
  batch.weight = 5.0;
  batch.examples = {"a", "b"};
  const Batch same = ordo::to_device(batch, at::kCPU);
  CHECK(same.ids.is_same(batch.ids));
  CHECK(same.targets.is_same(batch.targets));
  CHECK(same.at.index.is_same(batch.at.index));
  CHECK(same.mask.q_segment.is_same(batch.mask.q_segment));
  CHECK(same.examples == batch.examples);
  CHECK(same.weight == 5.0);
}

TEST_CASE("batch: what arrives on a GPU is what was sent", "[gpu]") {
  const auto gpu = ordo::test::require_gpu();
  if (!gpu) return;
  const Batch batch = packed_batch();
  for (int i = 0; i < 20; ++i) {
    const Batch there = ordo::to_device(batch, *gpu);
    CHECK(same_bytes(there.ids, batch.ids));
    CHECK(same_bytes(there.targets, batch.targets));
    CHECK(same_bytes(there.mask.k_segment, batch.mask.k_segment));
  }
}
