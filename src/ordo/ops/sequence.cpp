// SPDX-License-Identifier: Apache-2.0
#include "ordo/ops/sequence.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cummax.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

namespace ordo {

namespace {

constexpr int64_t kFar = int64_t{1} << 60;  // beyond every distance, and far from overflow when a few are added

// The distances column - row (both in columns) that causality and window let through: [least, most]; empty when least >
// most.
struct Band {
  int64_t least, most;
};
Band band_of(const Mask& mask) {
  const int64_t reach = mask.window ? std::min(*mask.window, kFar) - 1 : kFar;
  return {-reach, mask.causal ? 0 : reach};
}

}  // namespace

at::ScalarType accumulate_type(at::ScalarType type) { return type == at::kDouble ? at::kDouble : at::kFloat; }

Positions Positions::slice(int64_t from, int64_t to) const {
  return {.index = index.slice(1, from, to),
          .coords = coords.defined() ? coords.slice(1, from, to) : Tensor(),
          .start = start ? std::optional<int64_t>(*start + from) : std::nullopt};
}

Positions consecutive(int64_t start, int64_t length, at::Device device) {
  return {.index = at::arange(start, start + length, at::TensorOptions(at::kLong).device(device)).unsqueeze(0),
          .start = start};
}

Positions from_padding(const Tensor& keys) {
  sizes<2>(keys, "keys [B, L]");
  const Tensor real = keys.to(at::kLong);
  return {.index = (real.cumsum(1) - 1) * real};
}

Positions from_segments(const Tensor& segments) {
  const auto [B, L] = sizes<2>(segments, "segments [B, L]");
  const Tensor place = at::arange(L, segments.options().dtype(at::kLong)).unsqueeze(0).expand({B, L});
  Tensor first =
      at::zeros_like(place, at::MemoryFormat::Contiguous);  // at the first token of a document its place, else 0
  if (L > 1) first.slice(1, 1).copy_(place.slice(1, 1) * segments.slice(1, 1).ne(segments.slice(1, 0, L - 1)));
  return {.index = L == 0 ? first : place - std::get<0>(at::cummax(first, 1))};
}

bool Mask::hides(const Tile& t) const {
  if (t.rows() <= 0 || t.columns() <= 0) return true;
  if (t.k0 < prefix) return false;
  const Band band = band_of(*this);
  const int64_t nearest = t.k0 - (t.q1 - 1 + offset), farthest = t.k1 - 1 - (t.q0 + offset);
  return std::max(nearest, band.least) > std::min(farthest, band.most);
}

bool Mask::shows(const Tile& t) const {
  if (t.rows() <= 0 || t.columns() <= 0) return true;
  if (!positional()) return false;
  const int64_t k0 = std::max(t.k0, prefix);
  if (k0 >= t.k1) return true;
  const Band band = band_of(*this);
  return k0 - (t.q1 - 1 + offset) >= band.least && t.k1 - 1 - (t.q0 + offset) <= band.most;
}

std::pair<int64_t, int64_t> Mask::visible(int64_t q0, int64_t q1, int64_t Lk) const {
  if (q1 <= q0) return {0, 0};
  const Band band = band_of(*this);
  const int64_t seen_by_all = std::clamp<int64_t>(prefix, 0, Lk);
  const int64_t k0 = std::max<int64_t>(0, q0 + offset + band.least), k1 = std::min(Lk, q1 + offset + band.most);
  if (band.least > band.most || k0 >= k1) return {0, seen_by_all};
  return {seen_by_all > 0 ? 0 : k0, std::max(k1, seen_by_all)};
}

Tensor Mask::tile(const Tile& t, at::Device device) const {
  const auto options = at::TensorOptions(at::kLong).device(device);
  const Band band = band_of(*this);
  Tensor seen = at::ones({t.rows(), t.columns()}, options.dtype(at::kBool));
  if (causal || window) {
    const Tensor column = at::arange(t.k0, t.k1, options).unsqueeze(0);
    const Tensor distance = column - at::arange(t.q0 + offset, t.q1 + offset, options).unsqueeze(1);
    seen = distance.le(band.most);
    if (window) seen.logical_and_(distance.ge(band.least));
    if (prefix > 0) seen.logical_or_(column.lt(prefix));
  }
  seen = seen.unsqueeze(0).unsqueeze(0);
  if (keys.defined()) seen = seen.logical_and(keys.slice(1, t.k0, t.k1).unsqueeze(1).unsqueeze(1));
  if (q_segment.defined()) {
    ORDO_ASSERT(k_segment.defined());
    const Tensor same = q_segment.slice(1, t.q0, t.q1).unsqueeze(2).eq(k_segment.slice(1, t.k0, t.k1).unsqueeze(1));
    seen = seen.logical_and(same.unsqueeze(1));
  }
  return seen;
}

Mask Mask::with_window(std::optional<int64_t> more) const {
  Mask narrowed = *this;
  if (more) narrowed.window = window ? std::min(*window, *more) : *more;
  return narrowed;
}

Tensor repeat_groups(const Tensor& k, int64_t heads) {
  const auto [B, G, L, E] = sizes<4>(k, "k [B, G, L, E]");
  if (G == heads) return k;
  require(G > 0 && heads % G == 0, "{} key/value heads do not divide {} query heads", G, heads);
  return k.unsqueeze(2).expand({B, G, heads / G, L, E}).reshape({B, heads, L, E});
}

Tensor sum_groups(const Tensor& d, int64_t groups) {
  const auto [B, H, L, E] = sizes<4>(d, "gradient [B, H, L, E]");
  return H == groups ? d : d.view({B, groups, H / groups, L, E}).sum(2);  // a view of any strides: it splits one axis
}

}  // namespace ordo
