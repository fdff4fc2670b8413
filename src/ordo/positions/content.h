// SPDX-License-Identifier: Apache-2.0
// What biases made of content and offset share (Transformer-XL, Shaw, DeBERTa): every offset key - query has a row in
// tables of vectors, which queries or keys are multiplied with. No tensor of vectors for all pairs is ever made.
#pragma once
#include <functional>
#include <vector>

#include "ordo/positions/offsets.h"

namespace ordo {

// Offsets int64 [...] -> rows of a table, int64 [...].
using RowOfOffset = std::function<Tensor(const Tensor& offset)>;

// With r = row(k_column - q_row), the score gains
//   scale x (q_row . queries[h, r] + k_column . keys[h, r]) + offsets[h, r].
class ContentBias final : public ScoreBias {
 public:
  // queries, keys [1|H, R, E], offsets [H, R]; any of them may be undefined, but not all.
  ContentBias(const AttentionPass& pass, ContentForm tables, RowOfOffset row);
  Tensor tile(const Tile& t, const Tensor& q, const Tensor& k) const override;
  std::optional<ContentForm> by_content() const override;  // only when both sides are consecutive
  std::vector<Tensor> inputs() const override;
  bool reads_content() const override { return true; }

 private:
  Positions q_, k_;
  double scale_;
  ContentForm tables_;
  int64_t rows_;  // R
  RowOfOffset row_;
};

// The output gains weights[h, row, column] x values[h, r].
class OffsetValues final : public ValueTerm {
 public:
  OffsetValues(const AttentionPass& pass, Tensor values, RowOfOffset row);  // values [1|H, R, E]
  Tensor tile(const Tile& t, const Tensor& weights) const override;
  std::optional<Tensor> by_offset() const override;  // only when both sides are consecutive
  std::vector<Tensor> inputs() const override { return {values_}; }

 private:
  Positions q_, k_;
  Tensor values_;
  RowOfOffset row_;
};

}  // namespace ordo
