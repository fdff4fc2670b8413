// SPDX-License-Identifier: Apache-2.0
// One pass over the strips of an attention call on the CPU, forward or back: a head at a time, products by BLAS into
// reused buffers, one vectorised walk over the scores between them. Heads are spread over threads; results do not
// depend on their number.
//
// Tables over offsets (bias.h) cost one product each. With n rows and m columns a strip needs the n + m - 1 entries
// column - row + n - 1 of a table; a row r of the product q . tableᵀ [n, n + m - 1] is then wanted from its place
// n - 1 - r on. Scores stored with a stride S of at least m + n are the matrix of stride S + 1 that begins n - 1
// numbers earlier, in which those places stand above each other: BLAS adds the product to the scores, and multiplies
// them by the table, without a copy. What falls outside of the strip lies in the padding between its rows.
#pragma once
#include <ATen/core/ivalue.h>

#include "ordo/attention/kernel.h"
#include "ordo/attention/row_spans.h"

namespace ordo {

enum class BiasForm { none, by_offset, by_key };

// What forward and backward share beside the tensors that have gradients.
struct CpuWork : torch::CustomClassHolder {
  RowSpans spans;
  BiasForm form = BiasForm::none;
  Tensor hidden = {};  // [B, Lk]: kHiddenScore where padding hides a key beside a bias over offsets, else 0
  double scale = 1.0, dropout = 0.0;
  uint64_t draw = 0;
  int64_t rows = 0;  // of a strip: at most kMostStripRows
};
inline constexpr int64_t kMostStripRows = 64;

// All of one type, fp32 or fp64; q, k and v with dense rows, the others contiguous, undefined when there is none.
struct CpuTensors {
  Tensor q, k, v;                // [B, H, Lq, E], [B, G, Lk, E], [B, G, Lk, Ev]
  Tensor bias;                   // [1|B, H, Lq+Lk-1 or Lk]
  Tensor queries, keys, values;  // [1|H, Lq+Lk-1, E or Ev]: ContentForm's tables, and ValueTerm's
};
// dk, dv and what follows are added to: they start as zeros.
struct CpuGradients {
  Tensor dq, dk, dv;             // [B, H, L, E]
  Tensor bias;                   // [B, H, …]
  Tensor queries, keys, values;  // [lanes, H, Lq+Lk-1, E or Ev]
};
// How many shares the batch is cut into when tables want gradients, which each share sums for itself. A function of the
// shape alone.
int64_t table_lanes(int64_t B, int64_t H);

// A tensor [B, H, L, E] as it is, or copied so that BLAS can read its rows.
Tensor with_dense_rows(const Tensor& t);

// Writes out [B, H, Lq, Ev], of any strides with dense rows, and lse [B, H, Lq], contiguous.
void strips_forward(const CpuWork& work, const CpuTensors& in, const Tensor& out, const Tensor& lse);
void strips_backward(const CpuWork& work, const CpuTensors& in, const Tensor& out, const Tensor& lse,
                     const Tensor& dout, const CpuGradients& gradients);

}  // namespace ordo
