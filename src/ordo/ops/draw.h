// SPDX-License-Identifier: Apache-2.0
// Random numbers as pure functions of keys: nothing to save, restore or replay. Weights are drawn from (seed, parameter
// name), dropout from (seed, step, micro-batch, site).
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>

#include "ordo/core/hash.h"
#include "ordo/ops/sequence.h"

namespace ordo {

// Which micro-batch is being computed; set by the trainer, carried by Batch, ModelInput and Context.
struct Draw {
  uint64_t seed = 0;
  int64_t step = 0, micro = 0;
  uint64_t key(uint64_t site) const {
    return mix(mix(mix(seed, static_cast<uint64_t>(step)), static_cast<uint64_t>(micro)), site);
  }
};

// x with each element kept with probability 1 - p and scaled by 1 / (1 - p), else 0. Element i's fate is a pure
// function of (key, i) in row-major order: no mask is kept, backward draws it anew. Any shape, fp32, fp64, bf16, fp16;
// CPU and CUDA.
Tensor dropout(const Tensor& x, double p, uint64_t key);
// The mask of `dropout` itself: 0 or 1 / (1 - p), of the given shape.
Tensor dropout_mask(at::IntArrayRef shape, double p, uint64_t key, const at::TensorOptions& options);
// The rectangle `tile` of its last two dimensions: the numbers that dropout_mask(shape, …) holds there, without making
// the rest. shape [B, H, Lq, Lk] -> [B, H, tile.rows(), tile.columns()].
Tensor dropout_mask_tile(at::IntArrayRef shape, const Tile& tile, double p, uint64_t key,
                         const at::TensorOptions& options);
// The elements [begin, begin + count) of `dropout` on a whole tensor, in place: for loops that make their numbers row
// by row.
void dropout_run(float* x, int64_t begin, int64_t count, double p, uint64_t key);
void dropout_run(double* x, int64_t begin, int64_t count, double p, uint64_t key);

// Fill in place from a key alone; drawn on the CPU in fp32 and then copied, so that every device and type starts from
// the same numbers.
void draw_normal(const Tensor& into, double std, uint64_t key);
void draw_uniform(const Tensor& into, double low, double high, uint64_t key);  // [low, high)
// A new tensor of N(0, 1), drawn in the same way.
Tensor standard_normal(at::IntArrayRef shape, uint64_t key, const at::TensorOptions& options = at::kFloat);

}  // namespace ordo
