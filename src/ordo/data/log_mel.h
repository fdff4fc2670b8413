// SPDX-License-Identifier: Apache-2.0
// Log-mel features: sound as frames of how much there is in each of a few bands, spaced as the ear hears.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ordo/config/fields.h"

namespace ordo {

struct LogMelConfig {
  int64_t sample_rate = 16000;
  double window_ms = 25.0, hop_ms = 10.0;
  int64_t mels = 40;
  double low = 0.0, high = 0.0;  // Hz; high 0: half of sample_rate
};
void fields(Fields& f, LogMelConfig& c);
// What is wrong with the settings together, one sentence each; keys are named with `path` ("task.features") before
// them.
std::vector<std::string> contradictions(const LogMelConfig& config, const std::string& path);

// Frames of `window_ms` every `hop_ms` under a Hann window (periodic), filled up with zeros to the next power of two,
// power spectrum by FFT, then triangles of height 1 with their corners equally spaced on HTK's mel scale
// 2595 log10(1 + f / 700) (Young et al., The HTK Book, 5.6; Davis & Mermelstein 1980), then the natural logarithm of
// what is at least 1e-10.
class LogMel {
 public:
  explicit LogMel(const LogMelConfig& config);  // settings without contradictions
  // samples float [N] of the config's rate -> float [frames, mels]. No frame reaches over an end, so there are
  // 1 + (N - window) / hop of them; fewer samples than a window are filled up with zeros to one frame.
  at::Tensor operator()(const at::Tensor& samples) const;
  int64_t frames(int64_t samples) const;
  const at::Tensor& filters() const { return filters_; }  // float [FFT length / 2 + 1, mels]

 private:
  int64_t window_, hop_, length_;  // in samples; of the FFT
  at::Tensor hann_, filters_;
};

}  // namespace ordo
