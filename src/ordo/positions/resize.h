// SPDX-License-Identifier: Apache-2.0
// Tables of learned rows made to fit another length: stretched along a line, or, for images, over a grid.
#pragma once
#include "ordo/positions/encoding.h"

namespace ordo {

// A saved table of another length is kept row by row, rows it lacks staying as they are; or is stretched.
enum class OnResize { extend, interpolate };
extern const Names kOnResize;

struct TableGrid {
  int64_t rows = 0, columns = 0;
  int64_t size() const { return rows * columns; }
  bool operator==(const TableGrid&) const = default;
};

// Rows of table [N, D] at real places fp64 [...] within [0, N - 1], linear between neighbours: [..., D]. A whole place
// gives its row unchanged. Differentiable in the table.
Tensor rows_between(const Tensor& table, const Tensor& places);
// [from.size(), D], row by row of the grid -> [to.size(), D]: bicubic, corners not aligned, no antialiasing, as ViT and
// DINOv2 resize theirs.
Tensor interpolate_grid(const Tensor& table, const TableGrid& from, const TableGrid& to);

// `saved` [n, D] made to fit `fresh` [N, D]. The first `apart` rows are no positions (an offset) and stay as saved.
// Nothing when the widths differ, when there is no row of a position to take, or when the lengths are equal.
std::optional<PositionEncoding::Resized> resized_rows(const Tensor& fresh, const Tensor& saved, OnResize how,
                                                      int64_t apart = 0);
// The same for a grid behind `prefix` rows of their own (class tokens): [prefix + from.size(), D].
std::optional<PositionEncoding::Resized> resized_grid(const Tensor& fresh, const Tensor& saved, const TableGrid& from,
                                                      const TableGrid& to, int64_t prefix);

}  // namespace ordo
