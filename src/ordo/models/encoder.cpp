// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/encoder.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/argmax.h>

namespace ordo {

void fields(Fields& f, Encoder::Config& c) { fields(f, static_cast<StackConfig&>(c)); }

std::shared_ptr<KVCache> Encoder::make_cache() const {
  throw ConfigError(
      "an encoder reads a sequence as a whole, so it cannot go on token by token; use model.kind: decoder");
}

Tensor pooled(const Tensor& hidden, const Tensor& keys, Pool pool) {
  const auto [B, L, D] = sizes<3>(hidden, "hidden [B, L, D]");
  if (!keys.defined()) return pool == Pool::first ? hidden.select(1, 0) : hidden.mean(1);
  const auto [rows, length] = sizes<2>(keys, "keys [B, L]");
  require(rows == B && length == L, "keys [{}, {}] do not fit hidden states [{}, {}, {}]", rows, length, B, L, D);
  const Tensor real = keys.unsqueeze(2);
  if (pool == Pool::mean)
    return hidden.masked_fill(real.logical_not(), 0.0).sum(1) / real.sum(1).clamp_min(1).to(hidden.scalar_type());
  const Tensor first = keys.to(at::kInt).argmax(1).view({B, 1, 1}).expand({B, 1, D});
  return hidden.gather(1, first).squeeze(1).masked_fill(keys.any(1, /*keepdim=*/true).logical_not(), 0.0);
}

}  // namespace ordo
