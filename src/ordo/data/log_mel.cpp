// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/log_mel.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/hann_window.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/view_as_real.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/ops/sequence.h"

namespace ordo {

namespace {

constexpr double kLeastPower = 1e-10;

double mel_of(double hertz) { return 2595.0 * std::log10(1.0 + hertz / 700.0); }
double hertz_of(double mel) { return 700.0 * (std::pow(10.0, mel / 2595.0) - 1.0); }

int64_t samples_in(double milliseconds, int64_t rate) {
  return std::llround(milliseconds * static_cast<double>(rate) / 1000.0);
}

double upper_edge(const LogMelConfig& c) { return c.high > 0.0 ? c.high : static_cast<double>(c.sample_rate) / 2.0; }

int64_t fft_length(const LogMelConfig& c) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(samples_in(c.window_ms, c.sample_rate))));
}

// [bins, mels]: how much of each frequency of the FFT goes into each band.
at::Tensor mel_filters(const LogMelConfig& c) {
  const int64_t bins = fft_length(c) / 2 + 1;
  const double low = mel_of(c.low), step = (mel_of(upper_edge(c)) - low) / static_cast<double>(c.mels + 1);
  const at::Tensor filters = at::zeros({bins, c.mels});
  auto* weights = filters.data_ptr<float>();
  for (int64_t mel = 0; mel < c.mels; ++mel) {
    const auto corner = [&](int64_t i) { return hertz_of(low + step * static_cast<double>(mel + i)); };
    const double from = corner(0), peak = corner(1), to = corner(2);
    for (int64_t bin = 0; bin < bins; ++bin) {
      const double hertz = static_cast<double>(bin * c.sample_rate) / static_cast<double>(fft_length(c));
      const double weight = std::min((hertz - from) / (peak - from), (to - hertz) / (to - peak));
      weights[bin * c.mels + mel] = static_cast<float>(std::max(weight, 0.0));
    }
  }
  return filters;
}

}  // namespace

void fields(Fields& f, LogMelConfig& c) {
  f("sample_rate", c.sample_rate, "samples a second; sound of another rate is resampled", within(1000, 384'000));
  f("window_ms", c.window_ms, "length of a frame, in milliseconds", within(1.0, 1000.0));
  f("hop_ms", c.hop_ms, "from the begin of a frame to that of the next, in milliseconds", within(0.1, 1000.0));
  f("mels", c.mels, "bands", within(1, 512));
  f("low", c.low, "lower edge of the lowest band, in Hz", at_least(0.0));
  f("high", c.high, "upper edge of the highest band, in Hz; 0 = half of sample_rate", at_least(0.0));
}

std::vector<std::string> contradictions(const LogMelConfig& c, const std::string& path) {
  const double half = static_cast<double>(c.sample_rate) / 2.0;
  if (samples_in(c.hop_ms, c.sample_rate) < 1)
    return {fmt::format("{0}.hop_ms ({1}) is less than a sample at {0}.sample_rate ({2})", path, number_text(c.hop_ms),
                        c.sample_rate)};
  if (upper_edge(c) > half)
    return {fmt::format("{0}.high ({1}) is above half of {0}.sample_rate ({2}), and no sound is there", path,
                        number_text(c.high), c.sample_rate)};
  if (c.low >= upper_edge(c))
    return {fmt::format("{0}.low ({1}) must be below {0}.high ({2})", path, number_text(c.low),
                        number_text(upper_edge(c)))};
  const at::Tensor filled = mel_filters(c).sum(0);
  for (int64_t mel = 0; mel < c.mels; ++mel)
    if (filled.const_data_ptr<float>()[mel] == 0.0F)
      return {
          fmt::format("band {1} of {0}.mels ({2}) is so narrow that no frequency of the FFT ({3} points) is in it; "
                      "take fewer bands or a longer {0}.window_ms ({4})",
                      path, mel + 1, c.mels, fft_length(c), number_text(c.window_ms))};
  return {};
}

LogMel::LogMel(const LogMelConfig& c)
    : window_(samples_in(c.window_ms, c.sample_rate)),
      hop_(samples_in(c.hop_ms, c.sample_rate)),
      length_(fft_length(c)),
      hann_(at::hann_window(window_)),
      filters_(mel_filters(c)) {}

int64_t LogMel::frames(int64_t samples) const { return 1 + std::max<int64_t>(samples - window_, 0) / hop_; }

at::Tensor LogMel::operator()(const at::Tensor& samples) const {
  const auto [N] = sizes<1>(samples, "samples [N]");
  require(samples.scalar_type() == at::kFloat, "samples must be float");
  const at::Tensor filled = N < window_ ? at::constant_pad_nd(samples, {0, window_ - N}) : samples;
  const at::Tensor frames = filled.unfold(0, window_, hop_) * hann_;
  const at::Tensor spectrum = at::view_as_real(at::fft_rfft(frames, length_));
  return at::matmul(spectrum.square().sum(-1), filters_).clamp_min(kLeastPower).log();
}

}  // namespace ordo
