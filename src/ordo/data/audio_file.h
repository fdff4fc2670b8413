// SPDX-License-Identifier: Apache-2.0
// Sound in files: WAV, FLAC, Ogg, AIFF and what else libsndfile reads, told by what is in them, not by their names.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>

#include "ordo/core/files.h"

namespace ordo {

struct Audio {
  at::Tensor samples;  // float [N] on the CPU, whole numbers scaled to [-1, 1); several channels are averaged
  int64_t sample_rate = 0;
};

inline constexpr int64_t kMostSamples = 200'000'000;  // 800 MB; three and a half hours at 16 kHz

// Throws DataError with the path for what read_packed refuses, an empty file, what libsndfile does not know, no
// samples, more than `most_samples` a channel, a sample that is NaN or infinite, and a WAV file that ends before its
// header says (of other kinds what is there is read). A WAV header that does not know its length (0 or about 2^31 and
// up, as written into a pipe) is taken as it is.
Audio read_audio(const fs::path& path, int64_t most_samples = kMostSamples);

// Samples float [N] at `from` Hz -> [ceil(N to / from)] at `to` Hz: a low pass at 0.95 of the lower of both Nyquist
// frequencies, a sinc of 16 zero crossings to each side under a Hann window (Smith, Digital Audio Resampling), each
// row of weights scaled to sum 1, so that a constant stays one; beyond the ends there are zeros. Rates: 1000 to 384000.
at::Tensor resampled(const at::Tensor& samples, int64_t from, int64_t to);

}  // namespace ordo
