// SPDX-License-Identifier: Apache-2.0
// The loops over scores between the matrix products of attention on the CPU, vectorised: bias, softmax and their
// gradients for a strip of rows.
#pragma once
#include <cstdint>

namespace ordo {

// A strip of `rows` x `columns` scores; row r sees the columns [low[r], high[r]) counted from `first`, the strip's own
// first column.
template <class T>
struct ScoreStrip {
  T* scores = nullptr;
  int64_t stride = 0, rows = 0, columns = 0, first = 0;
  const int32_t* low = nullptr;
  const int32_t* high = nullptr;
  const T* bias = nullptr;  // of (row 0, column 0) of the strip, or null; row r reads bias + r * bias_step
  int64_t bias_step = 0;
  const T* keys = nullptr;  // of column 0, or null: added to every row beside the bias
  int64_t padding = 0;      // columns behind the last one that are written as zeros with the hidden ones
};

// Scores below this count as hidden: what a mask over single keys adds.
inline constexpr double kHiddenScore = -1e30;

// Scores become exp(score + biases - row's largest), zero where hidden; sum[r] and lse[r] (log of the sum of exp(score
// + biases)) are written. A row that sees nothing gets zeros, sum 1 and lse 0.
void softmax_strip(const ScoreStrip<float>& s, float* sum, float* lse);
void softmax_strip(const ScoreStrip<double>& s, double* sum, double* lse);

// On the way back: scores become p = exp(score + biases - lse), and dp, of the same shape and stride, becomes ds = p *
// (dp - delta). dbias (walked like the bias, or null) gets ds added.
void softmax_strip_backward(const ScoreStrip<float>& s, float* dp, const float* lse, const float* delta, float* dbias);
void softmax_strip_backward(const ScoreStrip<double>& s, double* dp, const double* lse, const double* delta,
                            double* dbias);

// out[r] = sum over e of a[r, e] * b[r, e]
void row_products(const float* a, int64_t a_stride, const float* b, int64_t b_stride, int64_t rows, int64_t width,
                  float* out);
void row_products(const double* a, int64_t a_stride, const double* b, int64_t b_stride, int64_t rows, int64_t width,
                  double* out);

// Blocks [columns, rows + columns - 1] of numbers that columns and offsets belong to: that of (row r, column c) stands
// in row c at c - r + rows - 1. add_turned adds them to scores [rows, columns]; turn writes scores into such a block,
// with zeros elsewhere.
void add_turned(const float* block, int64_t rows, int64_t columns, float* scores, int64_t stride);
void add_turned(const double* block, int64_t rows, int64_t columns, double* scores, int64_t stride);
void turn(const float* scores, int64_t stride, int64_t rows, int64_t columns, float* block);
void turn(const double* scores, int64_t stride, int64_t rows, int64_t columns, double* block);

// x[r, e] /= by[r]
void divide_rows(float* x, int64_t stride, int64_t rows, int64_t width, const float* by);
void divide_rows(double* x, int64_t stride, int64_t rows, int64_t width, const double* by);

}  // namespace ordo
