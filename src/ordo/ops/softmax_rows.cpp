// SPDX-License-Identifier: Apache-2.0
#include "ordo/ops/softmax_rows.h"

#include <algorithm>
#include <cmath>

#include "ordo/ops/clones.h"
#include "ordo/ops/fast_exp.h"

namespace ordo {

namespace {

constexpr int64_t kStretch = 4096;  // summed in fp32, then added in fp64

ORDO_CLONES float row_max(const float* x, int64_t width) {
  float most = x[0];
#pragma omp simd reduction(max : most)
  for (int64_t i = 0; i < width; ++i) most = x[i] > most ? x[i] : most;
  return most;
}

ORDO_CLONES double row_sum(const float* x, int64_t width) {
  double total = 0.0;
  for (int64_t begin = 0; begin < width; begin += kStretch) {
    const int64_t end = std::min(width, begin + kStretch);
    float part = 0.0F;
#pragma omp simd reduction(+ : part)
    for (int64_t i = begin; i < end; ++i) part += x[i];
    total += static_cast<double>(part);
  }
  return total;
}

// x becomes exp(x - most); returns the sum.
ORDO_CLONES double row_exp(float* x, int64_t width, float most) {
  double total = 0.0;
  for (int64_t begin = 0; begin < width; begin += kStretch) {
    const int64_t end = std::min(width, begin + kStretch);
    float part = 0.0F;
#pragma omp simd reduction(+ : part)
    for (int64_t i = begin; i < end; ++i) {
      x[i] = fast_exp(x[i] - most);
      part += x[i];
    }
    total += static_cast<double>(part);
  }
  return total;
}

ORDO_CLONES void row_affine(float* x, int64_t width, float factor, float shift) {
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) x[i] = x[i] * factor + shift;
}

// x becomes cap * tanh(x / cap), and so does `copy`. tanh(|u|) = (1 - e) / (1 + e) with e = exp(-2 |u|), which loses
// digits near 0: there the series.
ORDO_CLONES void row_cap(float* x, float* copy, int64_t width, float cap) {
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) {
    const float u = x[i] / cap, size = std::fabs(u), e = fast_exp(-2.0F * size), square = u * u;
    const float series =
        size * (1.0F + square * (-1.0F / 3 + square * (2.0F / 15 + square * (-17.0F / 315 + square * (62.0F / 2835)))));
    const float value = size < 0.25F ? series : (1.0F - e) / (1.0F + e);
    x[i] = copy[i] = cap * (u < 0.0F ? -value : value);
  }
}

// The gradient of the capped logits becomes that of the logits.
ORDO_CLONES void row_uncap(float* gradient, const float* capped, int64_t width, float cap) {
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) {
    const float t = capped[i] / cap;
    gradient[i] *= 1.0F - t * t;
  }
}

}  // namespace

double row_loss(float* logits, int64_t width, int64_t target, const RowOptions& options, bool gradient, float* capped) {
  if (options.softcap) row_cap(logits, capped, width, static_cast<float>(*options.softcap));
  const double smoothing = options.smoothing,
               mean = smoothing > 0.0 ? row_sum(logits, width) / static_cast<double>(width) : 0.0;
  const double right = static_cast<double>(logits[target]);
  const float most = row_max(logits, width);
  const double total = row_exp(logits, width, most), log_z = static_cast<double>(most) + std::log(total);
  const double loss = log_z - (1.0 - smoothing) * right - smoothing * mean + options.z_loss * log_z * log_z;
  if (gradient) {
    const double factor = options.scale * (1.0 + 2.0 * options.z_loss * log_z) / total;
    row_affine(logits, width, static_cast<float>(factor),
               static_cast<float>(-options.scale * smoothing / static_cast<double>(width)));
    logits[target] -= static_cast<float>(options.scale * (1.0 - smoothing));
    if (options.softcap) row_uncap(logits, capped, width, static_cast<float>(*options.softcap));
  }
  return options.scale * loss;
}

}  // namespace ordo
