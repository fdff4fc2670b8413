// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/content.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

namespace ordo {

namespace {

// The rows that a tile reads: int64 [1|B, 1, q, k], counted from `low`, all below `low + count`.
struct ReadRows {
  Tensor index;
  int64_t low = 0, count = 0;
  Tensor for_heads(int64_t B, int64_t H) const { return index.expand({B, H, -1, -1}); }
  Tensor of(const Tensor& table) const { return table.narrow(1, low, count); }  // [1|H, R, E] -> [1|H, count, E]
};

// A tile meets fewer offsets than the whole call: products with the others' rows are spared where looking costs
// nothing.
ReadRows rows_of_tile(const Positions& q, const Positions& k, const Tile& t, const RowOfOffset& row, int64_t rows) {
  const Tensor of_q = q.slice(t.q0, t.q1).index, of_k = k.slice(t.k0, t.k1).index;
  const Tensor index = row((of_k.unsqueeze(1) - of_q.unsqueeze(2)).unsqueeze(1));
  if (!index.is_cpu() || index.numel() == 0) return {index, 0, rows};
  const auto [low, high] = at::aminmax(index);
  const auto first = low.item<int64_t>();
  return {index - first, first, high.item<int64_t>() + 1 - first};
}

// x [B, H, n, E] times every row of a table: [B, H, n, count]. One that all heads share makes one product.
Tensor products(const Tensor& x, const Tensor& table) {
  const Tensor columns = table.to(x.scalar_type()).transpose(1, 2);
  return at::matmul(x, columns.size(0) == 1 ? columns.squeeze(0) : columns);
}

}  // namespace

ContentBias::ContentBias(const AttentionPass& pass, ContentForm tables, RowOfOffset row)
    : q_(pass.q),
      k_(pass.k),
      scale_(pass.scale),
      tables_(std::move(tables)),
      rows_(inputs().at(0).size(1)),
      row_(std::move(row)) {}

Tensor ContentBias::tile(const Tile& t, const Tensor& q, const Tensor& k) const {
  const ReadRows read = rows_of_tile(q_, k_, t, row_, rows_);
  const int64_t B = q.size(0), H = q.size(1);
  Tensor sum;
  const auto add = [&](const Tensor& part) { sum = sum.defined() ? sum + part : part; };
  if (tables_.queries.defined()) add(products(q, read.of(tables_.queries)).gather(3, read.for_heads(B, H)) * scale_);
  if (tables_.keys.defined())
    add(products(k, read.of(tables_.keys)).gather(3, read.for_heads(B, H).transpose(2, 3)).transpose(2, 3) * scale_);
  if (tables_.offsets.defined()) {
    const Tensor picked = read.of(tables_.offsets).index_select(1, read.index.flatten());
    add(picked.view({picked.size(0), -1, t.rows(), t.columns()}).transpose(0, 1).to(q.scalar_type()));
  }
  return sum;
}

std::optional<ContentForm> ContentBias::by_content() const {
  if (!q_.start || !k_.start) return std::nullopt;
  const Tensor rows = row_(offsets_of_call(q_, k_));
  const auto spread = [&](const Tensor& table) { return table.defined() ? table.index_select(1, rows) : table; };
  return ContentForm{spread(tables_.queries), spread(tables_.keys), spread(tables_.offsets)};
}

std::vector<Tensor> ContentBias::inputs() const {
  std::vector<Tensor> found;
  for (const Tensor& table : {tables_.queries, tables_.keys, tables_.offsets})
    if (table.defined()) found.push_back(table);
  return found;
}

OffsetValues::OffsetValues(const AttentionPass& pass, Tensor values, RowOfOffset row)
    : q_(pass.q), k_(pass.k), values_(std::move(values)), row_(std::move(row)) {}

Tensor OffsetValues::tile(const Tile& t, const Tensor& weights) const {
  const auto [B, H, rows, columns] = sizes<4>(weights, "weights [B, H, rows, columns]");
  const ReadRows read = rows_of_tile(q_, k_, t, row_, values_.size(1));
  const Tensor sums =
      at::zeros({B, H, rows, read.count}, weights.options()).scatter_add(3, read.for_heads(B, H), weights);
  const Tensor values = read.of(values_).to(weights.scalar_type());
  return at::matmul(sums, values.size(0) == 1 ? values.squeeze(0) : values);
}

std::optional<Tensor> OffsetValues::by_offset() const {
  if (!q_.start || !k_.start) return std::nullopt;
  return values_.index_select(1, row_(offsets_of_call(q_, k_)));
}

}  // namespace ordo
