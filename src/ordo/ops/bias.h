// SPDX-License-Identifier: Apache-2.0
// What an encoding adds to scores and to outputs, without an Lq x Lk tensor: objects that can be asked for one tile.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "ordo/ops/sequence.h"

namespace ordo {

// A bias of content and offset: with t = column - row + Lq - 1, the (scaled) score gains
//   scale x (q_row . queries[h, t] + k_column . keys[h, t]) + offsets[h, t]
// from tables over offsets, each of which may be undefined: queries, keys [1|H, Lq+Lk-1, E], offsets [H, Lq+Lk-1].
// They are differentiable; q and k are the call's own, turned. (Transformer-XL, Shaw, DeBERTa.)
struct ContentForm {
  Tensor queries = {}, keys = {}, offsets = {};
};

// Added to the scaled scores. Everything is fp32 (fp64 when q is fp64), computed outside autocast.
class ScoreBias {
 public:
  virtual ~ScoreBias() = default;
  // Broadcastable to [B, H, q1-q0, k1-k0], in units of the final score (content is multiplied by the pass's scale).
  // q [B, H, rows, E] and k [B, H, columns, E] are the tile's own, turned, groups repeated: for encodings that read
  // content.
  virtual Tensor tile(const Tile& t, const Tensor& q, const Tensor& k) const = 0;
  // [1|B, H, 1, Lk]: the bias depends on the key alone, up to a constant per row (which softmax cancels).
  virtual std::optional<Tensor> by_key() const { return std::nullopt; }
  // [H, Lq+Lk-1], differentiable: the bias depends on column - row alone; entry t is for column - row = t - (Lq-1).
  virtual std::optional<Tensor> by_offset() const { return std::nullopt; }
  // The same with content: see ContentForm. A bias that offers by_offset() need not offer this, and the reverse.
  virtual std::optional<ContentForm> by_content() const { return std::nullopt; }
  // The very tensors that tile() computes with, leaves or not: autograd stops there, gradients are returned for them.
  virtual std::vector<Tensor> inputs() const { return {}; }
  virtual bool reads_content() const { return false; }  // tile() depends on q or k: their gradients are asked for too
  virtual bool whole_rows() const {
    return false;
  }  // needs all visible keys of a row at once: kernels that cut the keys refuse it
};

// Added to the attention output.
class ValueTerm {
 public:
  virtual ~ValueTerm() = default;
  // weights [B, H, rows, columns] -> [B, H, rows, E]; summed over the tiles of a row.
  virtual Tensor tile(const Tile& t, const Tensor& weights) const = 0;
  // [1|H, Lq+Lk-1, E], differentiable: weights[h, row, column] multiplies entry t = column - row + Lq - 1 of it.
  virtual std::optional<Tensor> by_offset() const { return std::nullopt; }
  virtual std::vector<Tensor> inputs() const { return {}; }
};

}  // namespace ordo
