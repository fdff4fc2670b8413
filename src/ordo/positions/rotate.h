// SPDX-License-Identifier: Apache-2.0
// Turns pairs of channels by angles: the arithmetic of the rotary family.
#pragma once
#include "ordo/ops/sequence.h"

namespace ordo {

// Which channels make pair m of the r rotated ones: (m, m + r/2) as in GPT-NeoX and Llama, or (2m, 2m + 1) as in the
// paper and GPT-J.
enum class RotaryLayout { half, interleaved };

// theta^(-2m/r), m < r/2: radians a position, fp64 [r/2].
Tensor rotary_frequencies(double theta, int64_t rotary_dim);

// Angles [..., r/2] -> the table of their turns [..., r]: r/2 cosines, then r/2 sines, each times `factor`.
Tensor turns(const Tensor& angles, double factor = 1.0);

// x [B, N, L, E], table [1|B, L, r]: r/2 cosines, then r/2 sines, r <= E; the channels past r are left alone.
// Computed in the table's type (fp32, or fp64 for an fp64 x), result in x's type and memory order. Differentiable in x
// alone.
Tensor rotate(const Tensor& x, const Tensor& table, RotaryLayout layout);

}  // namespace ordo
