// SPDX-License-Identifier: Apache-2.0
// Where tokens stand (Positions), who may see whom (Mask), and rectangles of the score matrix (Tile). Padding, packing
// and caching are resolved into these numbers before a model runs; no module knows those words. Shapes: B batch, L
// length (Lq, Lk), D model width, H query heads, G key/value heads, E head width, V vocabulary.
#pragma once
#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "ordo/core/errors.h"

namespace ordo {

using at::Tensor;

// Takes a shape apart once, at the border: `const auto [B, L, D] = sizes<3>(x, "x [B, L, D]");` throws with that text
// when the rank is another.
template <size_t N>
std::array<int64_t, N> sizes(const Tensor& t, const char* text) {
  require(t.defined() && t.dim() == static_cast<int64_t>(N), "expected {}, found a tensor of {} dimensions", text,
          t.defined() ? t.dim() : -1);
  std::array<int64_t, N> out{};
  for (size_t i = 0; i < N; ++i) out[i] = t.size(static_cast<int64_t>(i));
  return out;
}

// fp32 for fp32 and narrower types; fp64 stays fp64 (else gradient checks would see fp32 noise).
at::ScalarType accumulate_type(at::ScalarType type);

struct Positions {
  Tensor index;                       // int64 [B, L] or [1, L]; 0-based, restarts in each packed document
  Tensor coords = {};                 // float [B, L, A], optional: image row and column, time stamps
  std::optional<int64_t> start = {};  // set when every row is start, start+1, …: tables are sliced, not gathered
  int64_t length() const { return index.size(1); }
  Positions slice(int64_t from, int64_t to) const;  // the tokens [from, to) of every row
};
// start, start+1, … for all rows: index [1, length].
Positions consecutive(int64_t start, int64_t length, at::Device device);
// Positions of rows with padding, from keys [B, L] (false = padding): the count of real tokens before each one; padding
// gets 0.
Positions from_padding(const Tensor& keys);
// Positions of packed rows, from segments int64 [B, L]: restart at 0 where the segment changes.
Positions from_segments(const Tensor& segments);

// Rows [q0, q1) x columns [k0, k1) of the score matrix.
struct Tile {
  int64_t q0 = 0, q1 = 0, k0 = 0, k1 = 0;
  int64_t rows() const { return q1 - q0; }
  int64_t columns() const { return k1 - k0; }
};

// Who may attend to whom: a description, counted in columns (order of arrival), not in positions; dense only when
// somebody insists.
struct Mask {
  bool causal = false;
  std::optional<int64_t> window =
      {};              // how many keys a query sees, itself included, backwards; without `causal` as many forwards too
  int64_t prefix = 0;  // prefix LM: these first keys are seen by all
  int64_t offset = 0;  // column of query 0: cached keys stand before it
  Tensor keys = {};    // bool [B, Lk], optional: false = padding
  Tensor q_segment = {}, k_segment = {};  // int64 [B, L], optional: packed documents see only themselves

  bool hides(const Tile& t) const;  // surely nothing visible: skip the tile
  bool shows(const Tile& t) const;  // surely all visible: no masking needed
  // The columns [k0, k1) outside which the rows of the strip see nothing (by causality and window).
  std::pair<int64_t, int64_t> visible(int64_t q0, int64_t q1, int64_t Lk) const;
  // bool [1|B, 1, q, k], true = may attend.
  Tensor tile(const Tile& t, at::Device device) const;
  bool positional() const { return !keys.defined() && !q_segment.defined(); }  // the same for every row of the batch
  Mask with_window(std::optional<int64_t> more) const;                         // the narrower of both windows
};

// k [B, G, L, E] -> [B, heads, L, E]: each group's key repeated for its query heads.
Tensor repeat_groups(const Tensor& k, int64_t heads);
// Its gradient: d [B, H, L, E] -> [B, groups, L, E], the sum over each group's query heads.
Tensor sum_groups(const Tensor& d, int64_t groups);

}  // namespace ordo
