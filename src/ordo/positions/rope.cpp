// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/rope.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/pow.h>

#include <cmath>

namespace ordo {

namespace {
constexpr NamedValue kRotaryLayouts[] = {{"half", static_cast<int>(RotaryLayout::half)},
                                         {"interleaved", static_cast<int>(RotaryLayout::interleaved)}};

// How many channels of a head are rotated.
int64_t rotary_width(const Rope::Config& c, int64_t head_dim) {
  if (c.rotary_dim > 0) {
    require<ConfigError>(
        c.partial_rotary_factor == 1.0,
        "rope: rotary_dim ({}) and partial_rotary_factor ({}) both say how much is rotated; give one of them",
        c.rotary_dim, c.partial_rotary_factor);
    require<ConfigError>(c.rotary_dim <= head_dim, "rope: rotary_dim ({}) is larger than head_dim ({})", c.rotary_dim,
                         head_dim);
  }
  const auto width = c.rotary_dim > 0
                         ? c.rotary_dim
                         : static_cast<int64_t>(std::floor(static_cast<double>(head_dim) * c.partial_rotary_factor));
  const std::string origin =
      c.rotary_dim > 0 ? fmt::format("rotary_dim {}", c.rotary_dim)
                       : fmt::format("head_dim {} x partial_rotary_factor {}", head_dim, c.partial_rotary_factor);
  require<ConfigError>(width >= 2, "rope: no pair of channels is left to rotate ({}); raise it", origin);
  require<ConfigError>(width % 2 == 0,
                       "rope: rotary width {} is odd ({}), but channels are rotated in pairs; make it {} or {}", width,
                       origin, width - 1, width + 1);
  return width;
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
}

Tensor Rope::frequencies(double theta, int64_t rotary_dim) {
  return at::pow(theta,
                 at::arange(rotary_dim / 2, at::TensorOptions(at::kDouble)) * (-2.0 / static_cast<double>(rotary_dim)));
}

Rope::Rope(const Config& config, const PositionFacts& facts)
    : layout_(config.layout),
      table_([theta = config.theta, r = rotary_width(config, facts.head_dim)](const Tensor& positions) {
        const Tensor angles = positions.unsqueeze(-1) * frequencies(theta, r).to(positions.device());
        return at::cat({angles.cos(), angles.sin()}, -1);
      }) {}

Tensor Rope::query(const Tensor& q, const Positions& at, int64_t layer) {
  (void)layer;
  return rotate(q, table_.at(at, accumulate_type(q.scalar_type())), layout_);
}

Tensor Rope::key(const Tensor& k, const Positions& at, int64_t layer) {
  (void)layer;
  return rotate(k, table_.at(at, accumulate_type(k.scalar_type())), layout_);
}

}  // namespace ordo
