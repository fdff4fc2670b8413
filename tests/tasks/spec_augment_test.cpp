// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/spec_augment.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>

#include "support/tolerance.h"

namespace ordo::test {

namespace {

constexpr SpecAugmentConfig kMasks{.time_masks = 1, .time_width = 6, .band_masks = 1, .band_width = 3};

// How long the only run of zeros is; -1: there are several.
int64_t run_of_zeros(const Tensor& line) {
  int64_t runs = 0, zeros = 0;
  bool before = false;
  for (int64_t i = 0; i < line.size(0); ++i) {
    const bool zero = line[i].item<float>() == 0.0F;
    zeros += zero ? 1 : 0;
    runs += zero && !before ? 1 : 0;
    before = zero;
  }
  return runs > 1 ? -1 : zeros;
}

}  // namespace

TEST_CASE("spec augment: one span of frames and one of bands become 0, no wider than asked and drawn anew by key",
          "[unit]") {
  const Tensor frames = at::ones({4, 20, 8});
  int64_t longest = 0, widest = 0;
  for (uint64_t key = 0; key < 50; ++key) {
    const Tensor made = spec_augmented(frames, {}, kMasks, key);
    CHECK(same_bytes(made, spec_augmented(frames, {}, kMasks, key)));
    for (int64_t row = 0; row < 4; ++row) {
      const int64_t time = run_of_zeros(made[row].amax(1)), bands = run_of_zeros(made[row].amax(0));
      CHECK((time >= 0 && bands >= 0));
      CHECK(made[row].sum().item<float>() == Approx((20 - time) * (8 - bands)));
      longest = std::max(longest, time);
      widest = std::max(widest, bands);
    }
  }
  CHECK(longest == 6);
  CHECK(widest == 3);
  CHECK(frames.eq(1.0).all().item<bool>());
  CHECK_FALSE(same_bytes(spec_augmented(frames, {}, kMasks, 1), spec_augmented(frames, {}, kMasks, 2)));
}

TEST_CASE("spec augment: at most half of a short row is blotted out, and what pads it does not matter", "[unit]") {
  const Tensor short_row = at::ones({1, 6, 8}), padded = at::ones({1, 20, 8});
  const Tensor keys = at::arange(20).lt(6).unsqueeze(0);
  const SpecAugmentConfig time{.time_masks = 1, .time_width = 6};
  for (uint64_t key = 0; key < 50; ++key) {
    const Tensor alone = spec_augmented(short_row, {}, time, key);
    CHECK(run_of_zeros(alone[0].amax(1)) <= 3);
    CHECK(same_bytes(spec_augmented(padded, keys, time, key).slice(1, 0, 6).contiguous(), alone));
  }
}

TEST_CASE("spec augment: a number of spans and their width need each other", "[unit]") {
  CHECK(contradiction({}, "task.augment").empty());
  CHECK(contradiction(kMasks, "task.augment").empty());
  CHECK(contradiction({.time_masks = 2}, "task.augment") ==
        "task.augment.time_masks (2) and task.augment.time_width (0) need each other: give both, or neither");
  CHECK(contradiction({.band_width = 2}, "task.augment") ==
        "task.augment.band_masks (0) and task.augment.band_width (2) need each other: give both, or neither");
}

}  // namespace ordo::test
