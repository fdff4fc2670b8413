// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/encoding.h"

#include <ATen/TensorOperators.h>

#include <algorithm>

#include "ordo/core/text.h"
#include "ordo/positions/offsets.h"

namespace ordo {

std::string Places::text() const {
  std::vector<std::string> parts;
  if (positions) parts.emplace_back("positions");
  if (input) parts.emplace_back("input");
  if (query_key) parts.emplace_back("query and key");
  if (scores) parts.emplace_back("scores");
  if (values) parts.emplace_back("values");
  return parts.empty() ? "nothing" : join(parts, ", ");
}

void fields(Fields& f, PlacedSettings& c) {
  f("layers", c.layers, "a pattern over the layers in which it acts (1) or does not (0); absent: in all",
    within(0.0, 1.0));
}

void PositionEncoding::act_in(const std::vector<int64_t>& pattern) {
  const auto zero = std::find(pattern.begin(), pattern.end(), 0);
  const Places& places = traits().places;
  require<ConfigError>(zero == pattern.end() || places.in_layers(),
                       "an encoding that acts on {} does so once, before all layers: layers cannot leave some out",
                       places.text());
  require<ConfigError>(
      pattern.empty() || std::find(pattern.begin(), pattern.end(), 1) != pattern.end(),
      "layers (model.position.layers) is a pattern that repeats over the layers, and this one has no 1, so that "
      "the encoding acts nowhere; leave the entry out instead");
  layers_ = pattern;
}

bool PositionEncoding::acts_in(int64_t layer) const {
  return layers_.empty() || layers_[static_cast<size_t>(layer) % layers_.size()] != 0;
}

Tensor per_head(const Tensor& values) { return values.view({1, -1, 1, 1}); }

OffsetBias::OffsetBias(const AttentionPass& pass, std::vector<Tensor> inputs)
    : q_(pass.q), k_(pass.k), inputs_(std::move(inputs)) {
  refuse_coords(pass, "an encoding of offsets between tokens");
}

Tensor OffsetBias::tile(const Tile& t, const Tensor& q, const Tensor& k) const {
  (void)q, (void)k;
  return at(offsets(t));
}

Tensor OffsetBias::offsets(const Tile& t) const {
  const Tensor rows = q_.slice(t.q0, t.q1).index, columns = k_.slice(t.k0, t.k1).index;
  return (columns.unsqueeze(1) - rows.unsqueeze(2)).unsqueeze(1);
}

std::optional<Tensor> OffsetBias::by_offset() const {
  if (!q_.start || !k_.start) return std::nullopt;
  return at(offsets_of_call(q_, k_).view({1, 1, 1, -1})).squeeze(0).squeeze(1);
}

}  // namespace ordo
