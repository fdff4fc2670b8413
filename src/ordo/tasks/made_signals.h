// SPDX-License-Identifier: Apache-2.0
// Signals that are made, for trying a classification without files.
#pragma once
#include <cstdint>
#include <vector>

#include "ordo/tasks/signal_task.h"

namespace ordo {

// Grey images of noise with a brighter line of pixels somewhere: "horizontal" or "vertical".
struct MadeBarsConfig {
  int64_t images = 500;    // of training
  int64_t held_out = 200;  // of validation and of test
  int64_t side = 8;        // pixels
};
void fields(Fields& f, MadeBarsConfig& c);

// Tones of 0.2 to 0.4 seconds that glide from one pitch to another, in noise: "rising" or "falling".
struct MadeTonesConfig {
  int64_t sounds = 300;
  int64_t held_out = 100;
};
void fields(Fields& f, MadeTonesConfig& c);

// A split of them, functions of seed and split alone. Images float [1, side, side]; sounds float [samples].
std::vector<SignalExample> made_bars(const MadeBarsConfig& config, uint64_t seed, Split split);
std::vector<SignalExample> made_tones(const MadeTonesConfig& config, int64_t sample_rate, uint64_t seed, Split split);

}  // namespace ordo
