// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/pool.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/where.h>

#include <limits>

namespace ordo {

namespace {

constexpr NamedValue kPoolNames[] = {{"automatic", static_cast<int>(Pool::automatic)},
                                     {"mean", static_cast<int>(Pool::mean)},
                                     {"max", static_cast<int>(Pool::max)},
                                     {"first", static_cast<int>(Pool::first)},
                                     {"last", static_cast<int>(Pool::last)},
                                     {"class_token", static_cast<int>(Pool::class_token)},
                                     {"flatten", static_cast<int>(Pool::flatten)}};

// The hidden state of one token of each row: column [B].
Tensor token_at(const Tensor& hidden, const Tensor& column) {
  const Tensor index = column.view({-1, 1, 1}).expand({hidden.size(0), 1, hidden.size(2)});
  return hidden.gather(1, index).squeeze(1);
}

Tensor pooled_rows(const Tensor& hidden, Pool pool) {
  switch (pool) {
    case Pool::mean:
      return hidden.mean(1);
    case Pool::max:
      return hidden.amax(1);
    case Pool::last:
      return hidden.select(1, hidden.size(1) - 1);
    case Pool::flatten:
      return hidden.flatten(1);
    default:
      return hidden.select(1, 0);
  }
}

}  // namespace

constinit const std::span<const NamedValue> kPools(kPoolNames);

Tensor pooled(const Tensor& hidden, const Tensor& keys, Pool pool, int64_t width) {
  ORDO_ASSERT(pool != Pool::automatic);
  const auto [B, L, D] = sizes<3>(hidden, "hidden [B, L, D]");
  require<ConfigError>(
      pool != Pool::flatten || (!keys.defined() && (width == 0 || L * D == width)),
      "model.pool: flatten lays all tokens of a row side by side, so all rows must be as long as those "
      "of the training; use mean, max or last for rows of several lengths");
  if (!keys.defined()) return pooled_rows(hidden, pool);
  const auto [rows, length] = sizes<2>(keys, "keys [B, L]");
  require(rows == B && length == L, "keys [{}, {}] do not fit hidden states [{}, {}, {}]", rows, length, B, L, D);
  const Tensor real = keys.unsqueeze(2), any = keys.any(1, /*keepdim=*/true);
  if (pool == Pool::mean)
    return hidden.masked_fill(real.logical_not(), 0.0).sum(1) / real.sum(1).clamp_min(1).to(hidden.scalar_type());
  Tensor row;
  if (pool == Pool::max) {
    row = hidden.masked_fill(real.logical_not(), -std::numeric_limits<float>::infinity()).amax(1);
  } else if (pool == Pool::last) {
    const Tensor columns = at::arange(L, keys.options().dtype(at::kLong));
    row = token_at(hidden, (columns * keys).amax(1));
  } else {
    row = token_at(hidden, keys.to(at::kInt).argmax(1));
  }
  return row.masked_fill(any.logical_not(), 0.0);
}

}  // namespace ordo
