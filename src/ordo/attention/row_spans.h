// SPDX-License-Identifier: Apache-2.0
// A mask as one run of visible columns per row: what causality, windows, prefixes, packed documents and padding at the
// ends come to.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "ordo/ops/sequence.h"

namespace ordo {

struct RowSpans {
  int64_t batch = 1;               // 1: the same for all rows of the batch
  std::vector<int32_t> low, high;  // [batch, Lq]: row i sees the columns [low, high), none when they are equal
  Tensor hidden_keys = {};         // bool [B, Lk], only when padding leaves holes: these are hidden besides

  size_t place(int64_t b, int64_t row, int64_t Lq) const {
    return static_cast<size_t>((batch == 1 ? 0 : b) * Lq + row);
  }
  // The columns that the rows [q0, q1) see together.
  std::pair<int64_t, int64_t> columns(int64_t b, int64_t q0, int64_t q1, int64_t Lq) const;
};

// Nothing when some row's columns are no run: a window beside a prefix, or a document that appears twice. Reads padding
// and segments on the CPU.
std::optional<RowSpans> row_spans(const Mask& mask, int64_t Lq, int64_t Lk);

}  // namespace ordo
