// SPDX-License-Identifier: Apache-2.0
#include "ordo/attention/caches.h"

namespace ordo {

FixedCache::FixedCache(const Config&, const CacheFacts& facts) : layers_(static_cast<size_t>(facts.layers)) {}
void fields(Fields&, FixedCache::Config&) {}

void FixedCache::advance(const Positions& fresh, const Mask& mask) {
  require(!at_.index.defined(), "cache: a fixed cache is written once; it holds {} columns already", size());
  at_ = fresh;
  mask_ = mask;
}

KVCache::Held FixedCache::append(int64_t layer, const Tensor& k, const Tensor& v, const Tensor& kept) {
  auto& slot = layers_.at(static_cast<size_t>(layer));
  require(at_.index.defined() && !slot, "cache: layer {} of a fixed cache is written once, after advance()", layer);
  require(k.size(2) == at_.length(), "cache: layer {} appends {} keys, the call was announced with {}", layer,
          k.size(2), at_.length());
  slot = Held{k.detach(), v.detach(), kept.defined() ? kept.detach() : Tensor(), at_, mask_};
  return *slot;
}

std::optional<KVCache::Held> FixedCache::held(int64_t layer) const { return layers_.at(static_cast<size_t>(layer)); }

int64_t FixedCache::size() const { return at_.index.defined() ? at_.length() : 0; }

void FixedCache::keep_rows(const Tensor& rows) {
  const auto pick = [&](Tensor& t, bool shared_row) {
    if (t.defined() && !(shared_row && t.size(0) == 1)) t = t.index_select(0, rows);
  };
  const auto pick_facts = [&](Positions& at, Mask& mask) {
    pick(at.index, true);
    pick(at.coords, true);
    for (Tensor* const t : {&mask.keys, &mask.q_segment, &mask.k_segment}) pick(*t, true);
  };
  pick_facts(at_, mask_);
  for (auto& slot : layers_) {
    if (!slot) continue;
    pick(slot->k, false);
    pick(slot->v, false);
    pick(slot->kept, false);
    slot->at = at_;
    slot->mask = mask_;
  }
}

void FixedCache::truncate(int64_t size) {
  require(size == this->size(), "cache: a fixed cache keeps all its {} columns, asked to keep {}", this->size(), size);
}

}  // namespace ordo
