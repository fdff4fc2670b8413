// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/encoding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>

#include "ordo/core/text.h"

namespace ordo {

std::string Places::text() const {
  std::vector<std::string> parts;
  if (input) parts.emplace_back("input");
  if (query_key) parts.emplace_back("query and key");
  if (scores) parts.emplace_back("scores");
  if (values) parts.emplace_back("values");
  return parts.empty() ? "nothing" : join(parts, ", ");
}

Tensor per_head(const Tensor& values) { return values.view({1, -1, 1, 1}); }

OffsetBias::OffsetBias(const AttentionPass& pass, std::vector<Tensor> inputs)
    : q_(pass.q), k_(pass.k), inputs_(std::move(inputs)) {
  require<ConfigError>(!q_.coords.defined() && !k_.coords.defined(),
                       "an encoding of whole offsets between tokens has none for real-valued positions; use sinusoidal "
                       "or rope");
}

Tensor OffsetBias::tile(const Tile& t, const Tensor& q, const Tensor& k) const {
  (void)q, (void)k;
  const Tensor rows = q_.slice(t.q0, t.q1).index, columns = k_.slice(t.k0, t.k1).index;
  return at((columns.unsqueeze(1) - rows.unsqueeze(2)).unsqueeze(1));
}

std::optional<Tensor> OffsetBias::by_offset() const {
  if (!q_.start || !k_.start) return std::nullopt;
  const int64_t Lq = q_.length(), Lk = k_.length(), first = *k_.start - *q_.start;
  const Tensor offsets = at::arange(first - (Lq - 1), first + Lk, q_.index.options());
  return at(offsets.view({1, 1, 1, -1})).squeeze(0).squeeze(1);
}

}  // namespace ordo
