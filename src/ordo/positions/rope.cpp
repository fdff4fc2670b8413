// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/rope.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/scalar_tensor.h>

#include "ordo/positions/rotary_checks.h"

namespace ordo {

namespace {

constexpr NamedValue kRotaryLayouts[] = {{"half", static_cast<int>(RotaryLayout::half)},
                                         {"interleaved", static_cast<int>(RotaryLayout::interleaved)}};

RotaryFacts rotary_facts(const Rope::Config& c, const PositionFacts& facts) {
  return {.theta = c.theta,
          .head_dim = facts.head_dim,
          .share = c.partial_rotary_factor,
          .rotary_dim = c.rotary_dim,
          .max_length = facts.max_length,
          .trained_length = facts.trained_length};
}

// One past the last position of any row.
int64_t furthest_length(const Positions& at) {
  if (at.start && !at.coords.defined()) return *at.start + at.length();
  return static_cast<int64_t>(real_positions(at).max().item<double>()) + 1;
}

}  // namespace

void fields(Fields& f, Rope::Config& c) {
  f("theta", c.theta, "base of the wavelengths; larger for longer contexts", above(1.0));
  f("layout", c.layout, "which channels make a pair: (m, m + r/2) as in Llama, or (2m, 2m + 1) as in GPT-J",
    kRotaryLayouts);
  Limits share = within(0.0, 1.0);
  share.low_open = true;
  f("partial_rotary_factor", c.partial_rotary_factor, "share of the channels that is rotated", share);
  f("rotary_dim", c.rotary_dim, "how many channels are rotated; 0: by partial_rotary_factor", at_least(0));
  f("rotary_value", c.rotary_value, "rotate values too, by their own position (RoFormer)");
  f("scaling", c.scaling, "other frequencies for sequences longer than those of training");
}

Rope::Rope(const Config& config, const PositionFacts& facts)
    : layout_(config.layout),
      rotary_value_(config.rotary_value),
      scaling_(rope_scalings().build(config.scaling, rotary_facts(config, facts))),
      table_length_(scaling_->settled(1)),
      table_(table_of(table_length_)) {
  refuse_across(kKind, facts);
  require<ConfigError>(!rotary_value_ || (!scaling_->by_length() && scaling_->attention_factor() == 1.0),
                       "rope: rotary_value turns values once and for all, but scaling {} {}; use another scaling or "
                       "leave rotary_value out",
                       config.scaling.kind,
                       scaling_->by_length() ? "changes the angles as a sequence grows" : "also changes their size");
}

PositionTraits Rope::traits() const {
  const bool by_length = scaling_->by_length();
  return {.places = {.query_key = true},
          .relative = !by_length && !rotary_value_,
          .keys = by_length ? KeyCache::raw : KeyCache::turned,
          .takes_axes = 1};
}

std::unique_ptr<PositionTable> Rope::table_of(int64_t length) const {
  return std::make_unique<PositionTable>([scaling = scaling_, length](const Tensor& positions) {
    const Tensor frequencies =
        scaling->frequencies(at::scalar_tensor(static_cast<double>(length), positions.options()));
    return turns(positions.unsqueeze(-1) * frequencies, scaling->attention_factor());
  });
}

// Each row by its own length: fp64 [1|B, L, r].
Tensor Rope::rows_by_length(const Positions& at) const {
  const at::NoGradGuard plain;
  const Tensor positions = real_positions(at);
  const Tensor lengths = positions.amax(1).floor() + 1.0;
  return turns(positions.unsqueeze(-1) * scaling_->frequencies(lengths).unsqueeze(-2), scaling_->attention_factor());
}

Tensor Rope::rows(const Positions& at, at::ScalarType type) {
  const std::lock_guard lock(tables_);
  if (!scaling_->by_length() || at.index.numel() == 0) return table_->at(at, type);
  const bool consecutive = at.start && !at.coords.defined();
  if (!consecutive && !scaling_->remembers()) return rows_by_length(at).to(type);
  const int64_t length = furthest_length(at), settled = scaling_->settled(length);
  scaling_->note(length);
  if (settled != table_length_) {
    table_ = table_of(settled);
    table_length_ = settled;
  }
  return table_->at(at, type);
}

Tensor Rope::turned(const Tensor& x, const Positions& at) {
  return rotate(x, rows(at, accumulate_type(x.scalar_type())), layout_);
}

Tensor Rope::query(const Tensor& q, const Positions& at, int64_t layer) {
  (void)layer;
  return turned(q, at);
}

Tensor Rope::key(const Tensor& k, const Positions& at, int64_t layer) {
  (void)layer;
  return turned(k, at);
}

Tensor Rope::value(const Tensor& v, const Positions& at, int64_t layer) {
  (void)layer;
  return rotary_value_ ? turned(v, at) : v;
}

Tensor Rope::frequencies(int64_t length) const {
  return scaling_->frequencies(at::scalar_tensor(static_cast<double>(scaling_->settled(length)), at::kDouble));
}

}  // namespace ordo
