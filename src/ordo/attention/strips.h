// SPDX-License-Identifier: Apache-2.0
// The general path of `tiled`: strips of rows through ATen's operators, on any device, for any bias, value term, mask,
// dropout and softcap.
#pragma once
#include <array>

#include "ordo/attention/kernel.h"

namespace ordo {

// out [B, H, Lq, E] in q's type; gradients for q, k, v and the inputs of bias and value term, none of which may be
// computed from another (each is differentiated as if it stood alone; at::alias sets one apart). `rows`: of a strip, at
// most.
Tensor attend_in_strips(const AttentionCall& call, int64_t rows);

// Throws unless w is [H, Lq+Lk-1], as a bias given as a vector over column - row + Lq - 1 must be.
void check_offset_vector(const Tensor& w, int64_t H, int64_t Lq, int64_t Lk);
// Throws unless t is [1 or H, entries, width], as a table over the same offsets must be; `what` is named first.
void check_offset_table(const Tensor& t, const char* what, const std::array<int64_t, 3>& expected);
// The strip `t` of a bias over offsets, [1, H, rows, columns]: copies rows + columns numbers.
Tensor strip_of_vector(const Tensor& w, const Tile& t, int64_t Lq);
// Its transpose: sums along diagonals, ds [H, rows, columns] -> [H, rows+columns-1], entry at column - row + rows - 1.
Tensor diagonal_sums(const Tensor& ds);

}  // namespace ordo
