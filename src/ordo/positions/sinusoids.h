// SPDX-License-Identifier: Apache-2.0
// The table of sines and cosines that several encodings build on (Vaswani et al. 2017): columns sin(i w_m) and
// cos(i w_m). Three conventions are in use, and a trained checkpoint knows only its own: interleaved columns with
// w_m = theta^(-2m/D) (the paper), sines then cosines with the same frequencies (Marian), or with
// w_m = theta^(-m/(D/2-1)) (tensor2tensor, fairseq, Whisper).
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>

#include "ordo/config/fields.h"

namespace ordo {

enum class SinusoidLayout { interleaved, half };
enum class SinusoidExponent { paper, t2t };

// Settings that an encoding made of sines has beside its own, at the same level.
struct SinusoidSettings {
  double theta = 10000.0;
  SinusoidLayout layout = SinusoidLayout::interleaved;
  SinusoidExponent exponent = SinusoidExponent::paper;
  int64_t frequencies = 0;  // different ones; 0: one for each pair of columns
};
void fields(Fields& f, SinusoidSettings& c);

// Radians a position: fp64 [pairs]. Of an odd width, the paper's exponent has one sine more than cosines. Fewer
// different frequencies than pairs are those that a narrower table would have, each repeated over neighbouring pairs:
// the rows keep their norm.
at::Tensor sinusoid_frequencies(int64_t width, const SinusoidSettings& settings);
// positions fp64 [...] -> [..., width]. Of an odd width the paper's exponent has no last cosine (as Marian), t2t's has
// a last column of zeros (as fairseq).
at::Tensor sinusoids(const at::Tensor& positions, int64_t width, const SinusoidSettings& settings);
// Throws ConfigError, "<kind>: …", when columns that alternate in pairs are of odd number, or are too few for the
// different frequencies.
void require_columns(std::string_view kind, int64_t width, const SinusoidSettings& settings);

}  // namespace ordo
