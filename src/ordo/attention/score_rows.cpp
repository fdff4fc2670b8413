// SPDX-License-Identifier: Apache-2.0
#include "ordo/attention/score_rows.h"

#include <algorithm>
#include <cmath>

#include "ordo/ops/clones.h"
#include "ordo/ops/fast_exp.h"

namespace ordo {

namespace {
#define ORDO_INLINE inline __attribute__((always_inline))

constexpr double kNothing = 2 * kHiddenScore;  // below every score, hidden ones too

// exp(x) for x up to about 1, zero where it would be next to nothing: no product ever meets a denormal number.
ORDO_INLINE float exp_or_zero(float x) {
  const float value = fast_exp(x);
  return x < -80.0F ? 0.0F : value;
}
ORDO_INLINE double exp_or_zero(double x) { return x < -700.0 ? 0.0 : std::exp(x); }

template <class T>
ORDO_INLINE void add_row(T* s, int64_t n, const T* x) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) s[j] += x[j];
}

template <class T>
ORDO_INLINE T add_bias_and_max(T* s, int64_t n, const T* bias) {
  T most = static_cast<T>(kNothing);
  if (bias == nullptr) {
#pragma omp simd reduction(max : most)
    for (int64_t j = 0; j < n; ++j) most = s[j] > most ? s[j] : most;
    return most;
  }
#pragma omp simd reduction(max : most)
  for (int64_t j = 0; j < n; ++j) {
    const T x = s[j] + bias[j];
    s[j] = x;
    most = x > most ? x : most;
  }
  return most;
}

template <class T>
ORDO_INLINE T exp_and_sum(T* s, int64_t n, T most) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t j = 0; j < n; ++j) {
    const T e = exp_or_zero(s[j] - most);
    s[j] = e;
    sum += e;
  }
  return sum;
}

template <class T>
ORDO_INLINE void hide(T* s, int64_t from, int64_t low, int64_t high, int64_t to) {
  std::fill(s + from, s + low, T(0));
  std::fill(s + high, s + to, T(0));
}

template <class T>
ORDO_INLINE void softmax_rows_of(const ScoreStrip<T>& strip, T* sum, T* lse) {
  for (int64_t r = 0; r < strip.rows; ++r) {
    T* const s = strip.scores + r * strip.stride;
    const int64_t low = std::clamp<int64_t>(strip.low[r] - strip.first, 0, strip.columns);
    const int64_t high = std::clamp<int64_t>(strip.high[r] - strip.first, low, strip.columns);
    if (strip.keys != nullptr) add_row(s + low, high - low, strip.keys + low);
    const T most =
        add_bias_and_max(s + low, high - low, strip.bias != nullptr ? strip.bias + r * strip.bias_step + low : nullptr);
    const bool sees = high > low && (most > static_cast<T>(0.1 * kHiddenScore) ||
                                     most == static_cast<T>(kNothing));  // a row of NaN stays NaN
    hide(s, 0, sees ? low : strip.columns, sees ? high : strip.columns, strip.columns + strip.padding);
    sum[r] = sees ? exp_and_sum(s + low, high - low, most) : T(1);
    lse[r] = sees ? most + std::log(sum[r]) : T(0);
  }
}

template <class T>
ORDO_INLINE void row_backward(T* s, T* dp, int64_t n, const T* bias, T lse, T delta, T* dbias) {
  if (bias == nullptr) {
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) {
      const T p = exp_or_zero(s[j] - lse);
      s[j] = p;
      dp[j] = p * (dp[j] - delta);
    }
    return;
  }
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T p = exp_or_zero(s[j] + bias[j] - lse);
    s[j] = p;
    dp[j] = p * (dp[j] - delta);
  }
  if (dbias == nullptr) return;
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) dbias[j] += dp[j];
}

template <class T>
ORDO_INLINE void softmax_rows_back(const ScoreStrip<T>& strip, T* dp, const T* lse, const T* delta, T* dbias) {
  for (int64_t r = 0; r < strip.rows; ++r) {
    T* const s = strip.scores + r * strip.stride;
    T* const d = dp + r * strip.stride;
    const int64_t low = std::clamp<int64_t>(strip.low[r] - strip.first, 0, strip.columns);
    const int64_t high = std::clamp<int64_t>(strip.high[r] - strip.first, low, strip.columns);
    const int64_t walked = r * strip.bias_step + low;
    hide(s, 0, low, high, strip.columns + strip.padding);
    hide(d, 0, low, high, strip.columns + strip.padding);
    if (strip.keys != nullptr) add_row(s + low, high - low, strip.keys + low);
    row_backward(s + low, d + low, high - low, strip.bias != nullptr ? strip.bias + walked : nullptr, lse[r], delta[r],
                 dbias != nullptr ? dbias + walked : nullptr);
  }
}

template <class T>
ORDO_INLINE void row_products_of(const T* a, int64_t a_stride, const T* b, int64_t b_stride, int64_t rows,
                                 int64_t width, T* out) {
  for (int64_t r = 0; r < rows; ++r) {
    const T* const x = a + r * a_stride;
    const T* const y = b + r * b_stride;
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t e = 0; e < width; ++e) sum += x[e] * y[e];
    out[r] = sum;
  }
}

template <class T>
ORDO_INLINE void divide_rows_of(T* x, int64_t stride, int64_t rows, int64_t width, const T* by) {
  for (int64_t r = 0; r < rows; ++r) {
    T* const row = x + r * stride;
    const T factor = T(1) / by[r];
#pragma omp simd
    for (int64_t e = 0; e < width; ++e) row[e] *= factor;
  }
}

template <class T>
ORDO_INLINE void add_turned_of(const T* block, int64_t rows, int64_t columns, T* scores, int64_t stride) {
  const int64_t step = rows + columns;  // along a row of scores: a row down and a place to the right
  for (int64_t r = 0; r < rows; ++r) {
    const T* const from = block + rows - 1 - r;
    T* const to = scores + r * stride;
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) to[c] += from[c * step];
  }
}

template <class T>
ORDO_INLINE void turn_of(const T* scores, int64_t stride, int64_t rows, int64_t columns, T* block) {
  const int64_t width = rows + columns - 1;
  for (int64_t c = 0; c < columns; ++c) {
    T* const to = block + c * width;
    std::fill(to, to + c, T(0));
#pragma omp simd
    for (int64_t u = 0; u < rows; ++u) to[c + u] = scores[(rows - 1 - u) * stride + c];
    std::fill(to + c + rows, to + width, T(0));
  }
}
#undef ORDO_INLINE
}  // namespace

ORDO_CLONES void softmax_strip(const ScoreStrip<float>& s, float* sum, float* lse) { softmax_rows_of(s, sum, lse); }
void softmax_strip(const ScoreStrip<double>& s, double* sum, double* lse) { softmax_rows_of(s, sum, lse); }

ORDO_CLONES void softmax_strip_backward(const ScoreStrip<float>& s, float* dp, const float* lse, const float* delta,
                                        float* dbias) {
  softmax_rows_back(s, dp, lse, delta, dbias);
}
void softmax_strip_backward(const ScoreStrip<double>& s, double* dp, const double* lse, const double* delta,
                            double* dbias) {
  softmax_rows_back(s, dp, lse, delta, dbias);
}

ORDO_CLONES void row_products(const float* a, int64_t a_stride, const float* b, int64_t b_stride, int64_t rows,
                              int64_t width, float* out) {
  row_products_of(a, a_stride, b, b_stride, rows, width, out);
}
void row_products(const double* a, int64_t a_stride, const double* b, int64_t b_stride, int64_t rows, int64_t width,
                  double* out) {
  row_products_of(a, a_stride, b, b_stride, rows, width, out);
}

ORDO_CLONES void divide_rows(float* x, int64_t stride, int64_t rows, int64_t width, const float* by) {
  divide_rows_of(x, stride, rows, width, by);
}
void divide_rows(double* x, int64_t stride, int64_t rows, int64_t width, const double* by) {
  divide_rows_of(x, stride, rows, width, by);
}

ORDO_CLONES void add_turned(const float* block, int64_t rows, int64_t columns, float* scores, int64_t stride) {
  add_turned_of(block, rows, columns, scores, stride);
}
void add_turned(const double* block, int64_t rows, int64_t columns, double* scores, int64_t stride) {
  add_turned_of(block, rows, columns, scores, stride);
}

ORDO_CLONES void turn(const float* scores, int64_t stride, int64_t rows, int64_t columns, float* block) {
  turn_of(scores, stride, rows, columns, block);
}
void turn(const double* scores, int64_t stride, int64_t rows, int64_t columns, double* block) {
  turn_of(scores, stride, rows, columns, block);
}

}  // namespace ordo
