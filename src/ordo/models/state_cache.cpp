// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/state_cache.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>

namespace ordo {

namespace {

// keys [1|B, L] of `ids` [B, L]; undefined where neither side has padding.
Tensor joined_keys(const Tensor& a, const Tensor& a_ids, const Tensor& b, const Tensor& b_ids) {
  if (!a.defined() && !b.defined()) return {};
  const auto whole = [](const Tensor& keys, const Tensor& ids) {
    return keys.defined() ? keys.expand(ids.sizes()) : at::ones(ids.sizes(), ids.options().dtype(at::kBool));
  };
  return at::cat({whole(a, a_ids), whole(b, b_ids)}, 1);
}

void pick_rows(Tensor& t, const Tensor& rows) {
  if (t.defined()) t = t.index_select(0, rows);
}

}  // namespace

void StateCache::keep_rows(const Tensor& rows) {
  for (Tensor* const t : {&ids_, &keys_}) pick_rows(*t, rows);
  for (States* const all : {&states_, &source})
    for (Tensor& t : *all) pick_rows(t, rows);
}

void StateCache::truncate(int64_t size) {
  require(size >= 0 && size <= this->size(), "cache: asked to keep {} columns, it holds {}", size, this->size());
  if (size == this->size()) return;
  states_.clear();
  ids_ = size == 0 ? Tensor() : ids_.slice(1, 0, size);  // after 0 the next call may bring other rows
  keys_ = size == 0 || !keys_.defined() ? Tensor() : keys_.slice(1, 0, size);
}

ModelInput StateCache::to_read(const ModelInput& in) const {
  require(in.ids.defined(), "a cache goes on from token ids; signals are read as a whole");
  require(!in.mask.q_segment.defined(), "a cache goes on from one text a row, and packed rows have several");
  require(!ids_.defined() || ids_.size(0) == in.ids.size(0),
          "cache: it holds {} rows, asked to append to {}; start another cache, or truncate(0) this one",
          ids_.defined() ? ids_.size(0) : 0, in.ids.size(0));
  if (lost() == 0) return in;
  ModelInput all = in;
  all.ids = at::cat({ids_, in.ids}, 1);
  all.at = consecutive(0, all.ids.size(1), all.ids.device());
  all.mask.keys = joined_keys(keys_, ids_, in.mask.keys, in.ids);
  return all;
}

void StateCache::hold(const ModelInput& in, const States& states) {
  if (ids_.defined()) {
    keys_ = joined_keys(keys_, ids_, in.mask.keys, in.ids);
    ids_ = at::cat({ids_, in.ids}, 1);
  } else {
    ids_ = in.ids;
    if (in.mask.keys.defined()) keys_ = in.mask.keys.expand(in.ids.sizes());
  }
  states_.clear();
  for (const Tensor& state : states) states_.push_back(state.detach());
}

}  // namespace ordo
