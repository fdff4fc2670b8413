// SPDX-License-Identifier: Apache-2.0
// Spans of time and of bands that are blotted out in training, anew in every step (SpecAugment: Park et al. 2019,
// without its warping), so that no part of a sound is relied upon alone.
#pragma once
#include "ordo/config/fields.h"
#include "ordo/ops/sequence.h"

namespace ordo {

struct SpecAugmentConfig {
  int64_t time_masks = 0, time_width = 0;  // so many spans of at most so many frames
  int64_t band_masks = 0, band_width = 0;
  bool active() const { return time_masks > 0 || band_masks > 0; }
};
void fields(Fields& f, SpecAugmentConfig& c);
// What is wrong with the settings together; "" for nothing.
std::string contradiction(const SpecAugmentConfig& config, const std::string& path);

// frames [B, T, F], keys bool [B, T] or undefined -> the same, with 0 (the mean) in spans that are drawn from (key,
// row) alone: widths evenly from 0 to the largest, which in time is at most half of a row.
Tensor spec_augmented(const Tensor& frames, const Tensor& keys, const SpecAugmentConfig& config, uint64_t key);

}  // namespace ordo
