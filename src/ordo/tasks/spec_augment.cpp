// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/spec_augment.h"

#include <fmt/format.h>

#include <algorithm>

#include "ordo/core/hash.h"

namespace ordo {

namespace {

constexpr double kMostMasks = 64;

// `masks` spans of [0, size), each at most `width` long, become 0 along `axis` of one row.
void blot_out(const Tensor& row, int64_t axis, int64_t size, int64_t masks, int64_t width, KeyedSequence& draw) {
  const auto widest = static_cast<uint64_t>(std::min(width, size));
  for (int64_t i = 0; i < masks; ++i) {
    const auto length = static_cast<int64_t>(draw.below(widest + 1));
    const auto from = static_cast<int64_t>(draw.below(static_cast<uint64_t>(size - length + 1)));
    row.narrow(axis, from, length).zero_();
  }
}

}  // namespace

void fields(Fields& f, SpecAugmentConfig& c) {
  f("time_masks", c.time_masks, "spans of frames that are blotted out of a sound", within(0, kMostMasks));
  f("time_width", c.time_width, "frames of such a span at most; never more than half of the sound", within(0, 1 << 16));
  f("band_masks", c.band_masks, "spans of bands that are blotted out of a sound", within(0, kMostMasks));
  f("band_width", c.band_width, "bands of such a span at most", within(0, 512));
}

std::string contradiction(const SpecAugmentConfig& c, const std::string& path) {
  const auto half = [&](const char* what, int64_t masks, int64_t width) {
    return (masks > 0) == (width > 0)
               ? std::string()
               : fmt::format("{0}.{1}_masks ({2}) and {0}.{1}_width ({3}) need each other: give both, or neither", path,
                             what, masks, width);
  };
  const std::string time = half("time", c.time_masks, c.time_width);
  return time.empty() ? half("band", c.band_masks, c.band_width) : time;
}

Tensor spec_augmented(const Tensor& frames, const Tensor& keys, const SpecAugmentConfig& config, uint64_t key) {
  const auto [B, T, F] = sizes<3>(frames, "frames [B, T, F]");
  const Tensor lengths = keys.defined() ? keys.sum(1).to(at::kCPU) : Tensor();
  const Tensor made = frames.clone();
  for (int64_t row = 0; row < B; ++row) {
    KeyedSequence draw(mix(key, static_cast<uint64_t>(row)));
    const int64_t length = lengths.defined() ? lengths.const_data_ptr<int64_t>()[row] : T;
    blot_out(made[row], 0, length, config.time_masks, std::min(config.time_width, length / 2), draw);
    blot_out(made[row], 1, F, config.band_masks, config.band_width, draw);
  }
  return made;
}

}  // namespace ordo
