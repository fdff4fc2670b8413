// SPDX-License-Identifier: Apache-2.0
// Scalings of the rotary encoding for sequences longer than those of training: each gives other frequencies, some by
// the sequence's length, some with a factor on the turned channels.
//   linear        w / s                                                    position interpolation, Chen et al. 2023
//   ntk           theta s^(r/(r-2)) in place of theta                      "NTK-aware" (bloc97)
//   dynamic       as ntk with s N/Lo - (s-1), N the length, above Lo only
//   yarn          slow pairs w / s, fast ones w, a ramp between            Peng et al. 2023
//   llama3        the same by wavelength                                   Llama 3.1
//   longrope      w / (a factor a pair), another set of factors above Lo   Ding et al. 2024
//   proportional  the slow pairs of the head stand still                   p-RoPE, Barbero et al. 2025
// s is `factor`, Lo `original_max_position_embeddings`; both are named as in Hugging Face configurations.
#pragma once
#include <ATen/core/Tensor.h>

#include "ordo/config/catalog.h"

namespace ordo {

// The rotary encoding that a scaling serves.
struct RotaryFacts {
  double theta = 10000.0;
  int64_t head_dim = 0;
  double share = 1.0;          // of the head's channels that turns
  int64_t rotary_dim = 0;      // how many turn; 0: by `share`
  int64_t max_length = 0;      // of the model
  int64_t trained_length = 0;  // of the checkpoint whose weights will be loaded; 0: a fresh model
};
// r, how many channels of a head turn. Throws ConfigError when they make no pairs.
int64_t rotary_width(const RotaryFacts& facts);

class RopeScaling {
 public:
  virtual ~RopeScaling() = default;
  // Radians a position in sequences of `lengths` tokens (fp64 [...]): fp64 [..., pairs], or [pairs] when the length
  // does not matter; on the device of `lengths`.
  virtual at::Tensor frequencies(const at::Tensor& lengths) const = 0;
  // What turned queries and keys are multiplied by, each.
  virtual double attention_factor() const { return 1.0; }
  // Whether the frequencies depend on the length, so that a longer sequence turns all its keys anew.
  virtual bool by_length() const { return false; }
  // Whether the length of earlier calls matters; then the rows of a batch share one length.
  virtual bool remembers() const { return false; }
  // The length whose frequencies a call of `length` tokens uses: one number for all lengths that share them.
  virtual int64_t settled(int64_t length) const { return length; }
  // A call of this length is made; for those that remember.
  virtual void note(int64_t length) { (void)length; }
};

using RopeScalingCatalog = Catalog<RopeScaling, RotaryFacts>;
const RopeScalingCatalog& rope_scalings();
template <>
const Kinds& kinds_of<RopeScaling>();

}  // namespace ordo
