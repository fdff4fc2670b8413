// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>

#include <algorithm>

#include "ordo/attention/caches.h"
#include "ordo/ops/type_name.h"

namespace ordo {

namespace {
constexpr int64_t kFirstRoom = 64;  // columns

// `held` has room for more than `size` entries along `dim`; writes `fresh` behind them and returns all that are held.
Tensor write_behind(Tensor& held, int64_t size, const Tensor& fresh, int64_t dim) {
  const at::NoGradGuard no_gradients;
  const int64_t total = size + fresh.size(dim);
  require(!held.defined() || (held.size(0) == fresh.size(0) && held.scalar_type() == fresh.scalar_type()),
          "cache: it holds {} rows of {}, asked to append {} rows of {}; start another cache, or truncate(0) this one",
          held.defined() ? held.size(0) : 0, held.defined() ? type_name(held.scalar_type()) : "", fresh.size(0),
          type_name(fresh.scalar_type()));
  if (!held.defined() || held.size(dim) < total) {
    std::vector<int64_t> shape = fresh.sizes().vec();
    shape[static_cast<size_t>(dim)] = std::max({total, kFirstRoom, held.defined() ? 2 * held.size(dim) : 0});
    const Tensor room = at::empty(shape, fresh.options());
    if (size > 0) room.narrow(dim, 0, size).copy_(held.narrow(dim, 0, size));
    held = room;
  }
  held.narrow(dim, size, fresh.size(dim)).copy_(fresh.detach());
  return held.narrow(dim, 0, total);
}

// Rows of a and b side by side; a single row stands for all.
Tensor join(const Tensor& a, const Tensor& b) {
  const int64_t rows = std::max(a.size(0), b.size(0));
  std::vector<int64_t> shape(static_cast<size_t>(a.dim()), -1);
  shape[0] = rows;
  return at::cat({a.expand(shape), b.expand(shape)}, 1);
}

Tensor pick(const Tensor& t, const Tensor& rows) { return t.defined() ? t.index_select(0, rows) : t; }
Tensor pick_unless_shared(const Tensor& t, const Tensor& rows) {
  return t.defined() && t.size(0) > 1 ? t.index_select(0, rows) : t;
}
}  // namespace

FullCache::FullCache(const Config&, const CacheFacts& facts) : layers_(static_cast<size_t>(facts.layers)) {}
void fields(Fields&, FullCache::Config&) {}

void FullCache::advance(const Positions& fresh, const Mask& mask) {
  ORDO_ASSERT(mask.offset == 0);  // the cache itself knows where fresh queries stand
  before_ = size_;
  size_ += fresh.length();
  note_padding(mask, fresh.index.size(0), fresh.length());
  note_segments(mask);
  if (before_ == 0) {
    at_ = fresh;
    mask_.prefix = mask.prefix;
  } else {
    const bool joined = at_.start && fresh.start && *at_.start + before_ == *fresh.start;
    require(at_.coords.defined() == fresh.coords.defined(),
            "cache: positions with coordinates cannot follow positions without, or the other way round");
    at_.index = join(at_.index, fresh.index);
    if (at_.coords.defined()) at_.coords = join(at_.coords, fresh.coords);
    if (!joined) at_.start.reset();
  }
  mask_.causal = mask.causal;
  mask_.window = mask.window;
  mask_.offset = before_;
}

void FullCache::note_padding(const Mask& mask, int64_t rows, int64_t length) {
  if (!mask.keys.defined() && !mask_.keys.defined()) return;
  const auto options = (mask.keys.defined() ? mask.keys : mask_.keys).options();
  const auto shown = [&](int64_t columns) { return at::ones({rows, columns}, options); };
  const Tensor fresh = mask.keys.defined() ? mask.keys : shown(length);
  mask_.keys = before_ == 0 ? fresh : join(mask_.keys.defined() ? mask_.keys : shown(before_), fresh);
}

void FullCache::note_segments(const Mask& mask) {
  require(before_ == 0 || mask.q_segment.defined() == mask_.k_segment.defined(),
          "cache: all calls must give segments, or none");
  if (!mask.q_segment.defined()) return;
  mask_.q_segment = mask.q_segment;
  mask_.k_segment = before_ == 0 ? mask.k_segment : join(mask_.k_segment, mask.k_segment);
}

KVCache::Held FullCache::append(int64_t layer, const Tensor& k, const Tensor& v, const Tensor& kept) {
  require(k.size(2) == size_ - before_, "cache: layer {} appends {} keys, the call was announced with {}", layer,
          k.size(2), size_ - before_);
  Layer& l = layers_.at(static_cast<size_t>(layer));
  return {write_behind(l.k, before_, k, 2), write_behind(l.v, before_, v, 2),
          kept.defined() ? write_behind(l.kept, before_, kept, 1) : Tensor(), at_, mask_};
}

void FullCache::keep_rows(const Tensor& rows) {
  for (Layer& l : layers_) {
    l.k = pick(l.k, rows);
    l.v = pick(l.v, rows);
    l.kept = pick(l.kept, rows);
  }
  at_.index = pick_unless_shared(at_.index, rows);
  at_.coords = pick_unless_shared(at_.coords, rows);
  mask_.keys = pick_unless_shared(mask_.keys, rows);
  mask_.k_segment = pick_unless_shared(mask_.k_segment, rows);
}

void FullCache::truncate(int64_t size) {
  require(size >= 0 && size <= size_, "cache: asked to keep {} columns, it holds {}", size, size_);
  if (size == size_) return;
  size_ = before_ = size;
  if (size == 0) {
    at_ = {};
    mask_ = {};
    for (Layer& l : layers_) l = {};  // the next call may bring other rows
    return;
  }
  at_ = at_.slice(0, size);
  if (mask_.keys.defined()) mask_.keys = mask_.keys.slice(1, 0, size);
  if (mask_.k_segment.defined()) mask_.k_segment = mask_.k_segment.slice(1, 0, size);
}

}  // namespace ordo
