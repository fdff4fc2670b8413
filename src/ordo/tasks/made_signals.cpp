// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/made_signals.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/sin.h>
#include <fmt/format.h>

#include <numbers>

#include "ordo/core/hash.h"
#include "ordo/ops/draw.h"

namespace ordo {

namespace {

constexpr double kMostMade = 1e6;
constexpr double kBarBrightness = 3.0, kToneNoise = 0.1;

// The draws of one example.
uint64_t made_key(uint64_t seed, Split split, int64_t index) {
  return mix(key_of(seed, split_name(split)), static_cast<uint64_t>(index));
}

SignalExample made_bar(int64_t side, uint64_t key) {
  KeyedSequence draw(key);
  const bool vertical = draw.below(2) == 1;
  const auto place = static_cast<int64_t>(draw.below(static_cast<uint64_t>(side)));
  const auto from = static_cast<int64_t>(draw.below(static_cast<uint64_t>(side / 2 + 1)));
  Tensor image = standard_normal({1, side, side}, mix(key, 1));
  image.select(vertical ? 2 : 1, place).slice(1, from, from + side / 2) += kBarBrightness;
  return {.signal = image, .label = vertical ? "vertical" : "horizontal", .where = {}};
}

// Its frequency moves evenly from one end to the other, so its phase is a square of the time.
SignalExample made_tone(int64_t sample_rate, uint64_t key) {
  KeyedSequence draw(key);
  const bool falling = draw.below(2) == 1;
  const double rate = static_cast<double>(sample_rate), seconds = 0.2 + 0.2 * draw.unit();
  const double low = (0.05 + 0.1 * draw.unit()) * rate, high = low * (1.5 + draw.unit());
  const double first = falling ? high : low, last = falling ? low : high;
  const Tensor time = at::arange(static_cast<int64_t>(seconds * rate), at::kDouble) / rate;
  const Tensor turns = time * first + time * time * ((last - first) / (2.0 * seconds));
  const Tensor noise = standard_normal(turns.sizes(), mix(key, 1)) * kToneNoise;
  const Tensor tone = (turns * (2.0 * std::numbers::pi)).sin().to(at::kFloat);
  return {.signal = (tone + noise) * 0.5, .label = falling ? "falling" : "rising", .where = {}};
}

template <class Make>
std::vector<SignalExample> made_examples(int64_t count, const char* what, uint64_t seed, Split split,
                                         const Make& make) {
  std::vector<SignalExample> all;
  for (int64_t i = 0; i < count; ++i) {
    all.push_back(make(made_key(seed, split, i)));
    all.back().where = fmt::format("generated {} {} {}", split_name(split), what, i);
  }
  return all;
}

}  // namespace

void fields(Fields& f, MadeBarsConfig& c) {
  f("images", c.images, "training images", within(8, kMostMade));
  f("held_out", c.held_out, "images of validation and of test", within(1, kMostMade));
  f("side", c.side, "pixels a side", within(2, 1 << 10));
}

void fields(Fields& f, MadeTonesConfig& c) {
  f("sounds", c.sounds, "training sounds", within(8, kMostMade));
  f("held_out", c.held_out, "sounds of validation and of test", within(1, kMostMade));
}

std::vector<SignalExample> made_bars(const MadeBarsConfig& config, uint64_t seed, Split split) {
  return made_examples(split == Split::train ? config.images : config.held_out, "image", seed, split,
                       [&](uint64_t key) { return made_bar(config.side, key); });
}

std::vector<SignalExample> made_tones(const MadeTonesConfig& config, int64_t sample_rate, uint64_t seed, Split split) {
  return made_examples(split == Split::train ? config.sounds : config.held_out, "sound", seed, split,
                       [&](uint64_t key) { return made_tone(sample_rate, key); });
}

}  // namespace ordo
