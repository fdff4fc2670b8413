// SPDX-License-Identifier: Apache-2.0
// From token ids to what a stack reads.
#pragma once
#include "ordo/nn/layers.h"
#include "ordo/ops/sequence.h"
#include "ordo/positions/encoding.h"

namespace ordo {

class TokenInput final : public Embedding {
 public:
  TokenInput(int64_t vocab_size, int64_t dim, bool scaled);  // scaled: times sqrt(dim) (Vaswani et al. 2017)
  // ids int64 [B, L] -> [B, L, D]. Throws Error when positions or mask do not fit the ids, DataError for an id outside
  // the vocabulary.
  Tensor forward(const Tensor& ids, const Positions& at, const Mask& mask) const;

 private:
  double scale_;
};

// Throws ConfigError when an encoding does not reach the positions in use; `columns`: how many tokens there are, those
// of a cache included.
void check_reach(PositionEncoding& position, const Positions& at, int64_t columns);

}  // namespace ordo
