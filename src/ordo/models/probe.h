// SPDX-License-Identifier: Apache-2.0
// What a curious caller is shown of a forward pass: attention maps, outputs of blocks. Without one, a model pays
// nothing.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ordo {

class Probe {
 public:
  virtual ~Probe() = default;
  // Whether a layer's attention weights are worth computing; not every kernel can give them.
  virtual bool wants_weights(int64_t layer) const {
    (void)layer;
    return false;
  }
  virtual void weights(int64_t layer, const at::Tensor& weights) {
    (void)layer;
    (void)weights;
  }  // [B, H, Lq, Lk]
  // The same of a layer's cross-attention, in a decoder that reads a source.
  virtual bool wants_source_weights(int64_t layer) const {
    (void)layer;
    return false;
  }
  virtual void source_weights(int64_t layer, const at::Tensor& weights) {
    (void)layer;
    (void)weights;
  }  // [B, H, Lq, Ls]
  virtual void block(int64_t layer, const at::Tensor& output) {
    (void)layer;
    (void)output;
  }  // [B, L, D]
};

}  // namespace ordo
