// SPDX-License-Identifier: Apache-2.0
// From hidden states to one vector a row.
#pragma once
#include "ordo/config/fields.h"
#include "ordo/ops/sequence.h"

namespace ordo {

enum class Pool {
  automatic,  // the mean; in a causal model the last token
  mean,
  max,  // over the real tokens
  first,
  last,         // real token
  class_token,  // a learned token in front of all others (Devlin et al. 2019)
  flatten       // all tokens side by side: rows of one length alone (Nie et al. 2023)
};
extern const std::span<const NamedValue> kPools;

// hidden [B, L, D] -> [B, D], flatten: [B, L * D], which must be `width` where that is given. keys bool [B, L], false =
// padding; undefined: all tokens are real. A row without a real token gives zeros. Throws ConfigError for rows to
// flatten of other lengths. Not for `automatic`.
Tensor pooled(const Tensor& hidden, const Tensor& keys, Pool pool, int64_t width = 0);

}  // namespace ordo
