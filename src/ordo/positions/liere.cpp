// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/liere.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linalg_matrix_exp.h>
#include <ATen/ops/tril_indices.h>
#include <ATen/ops/zeros.h>

#include "ordo/positions/rotary_checks.h"
#include "ordo/positions/rotate.h"

namespace ordo {

namespace {

int64_t liere_block(int64_t asked, int64_t head_dim) {
  if (asked > 0) return asked;
  return head_dim % 8 == 0 ? 8 : head_dim % 4 == 0 ? 4 : 2;
}

// fp64 [1|B, L, axes].
Tensor liere_coordinates(const Positions& at, int64_t axes) {
  if (!at.coords.defined()) return at.index.to(at::kDouble).unsqueeze(-1).expand({-1, -1, axes});
  require<ConfigError>(at.coords.size(-1) == axes, "liere: takes {} coordinates a token (axes), found {}", axes,
                       at.coords.size(-1));
  return at.coords.to(at::kDouble);
}

}  // namespace

void fields(Fields& f, Liere::Config& c) {
  f("axes", c.axes, "coordinates of a token", within(1, 8));
  f("block", c.block, "channels that one matrix turns; 0: the widest of 8, 4 and 2 that divides the head", at_least(0));
  f("theta", c.theta, "base of the wavelengths of the rotary encoding that it starts as", above(1.0));
  f("init_std", c.init_std, "standard deviation of the first values in all places that rope leaves at zero",
    at_least(0.0));
}

Liere::Liere(const Config& config, const PositionFacts& facts) : config_(config), head_dim_(facts.head_dim) {
  config_.block = liere_block(config.block, facts.head_dim);
  refuse_across(kKind, facts);
  require<ConfigError>(config_.block % 2 == 0,
                       "liere: block ({}) must be even, because it starts as turns of pairs; use {} or {}",
                       config_.block, config_.block - 1, config_.block + 1);
  require_groups(kKind, facts, config_.block);
  require<ConfigError>(
      config_.block > 2 || config_.axes > 1 || config_.init_std == 0.0,
      "liere: with block 2 and one axis rope fills every place, and init_std ({}) has nothing to draw; "
      "leave it out, or use block: 4 or 8",
      config_.init_std);
  const Tensor below = at::tril_indices(config_.block, config_.block, -1, at::TensorOptions(at::kLong));
  below_ = FixedTensor(below[0] * config_.block + below[1]);
  weight_ = register_parameter("weight",
                               at::zeros({facts.layers, config_.axes, facts.head_dim / config_.block, below.size(1)}));
}

Tensor Liere::turned(const Tensor& x, const Positions& at, int64_t layer) const {
  const int64_t b = config_.block, blocks = head_dim_ / b;
  const Tensor coords = liere_coordinates(at, config_.axes);
  // Entries are summed before they become matrices: [1|B, L, blocks, n].
  const Tensor entries = coords.matmul(weight_[layer].to(at::kDouble).flatten(1)).unflatten(-1, {blocks, -1});
  const Tensor lower = at::zeros({1}, entries.options())
                           .expand({entries.size(0), entries.size(1), blocks, b * b})
                           .index_copy(3, below_.on(entries.device()), entries)
                           .unflatten(-1, {b, b});
  const Tensor turn =
      at::linalg_matrix_exp(lower - lower.transpose(-1, -2)).to(accumulate_type(x.scalar_type())).unsqueeze(1);
  const Tensor parts = x.to(turn.scalar_type()).unflatten(-1, {blocks, b}).unsqueeze(-1);
  return turn.matmul(parts).squeeze(-1).flatten(-2).to(x.scalar_type());
}

Tensor Liere::query(const Tensor& q, const Positions& at, int64_t layer) { return turned(q, at, layer); }
Tensor Liere::key(const Tensor& k, const Positions& at, int64_t layer) { return turned(k, at, layer); }

void Liere::reset(const Initialiser& init, const std::string& path) {
  init.normal(weight_, parameter_name(path, "weight"), config_.init_std);
  const at::NoGradGuard plain;
  const Tensor frequencies = rotary_frequencies(config_.theta, head_dim_);
  const int64_t pairs = config_.block / 2;  // of a block
  for (int64_t m = 0; m < head_dim_ / 2; ++m) {
    // Entry (c + 1, c) of the rows below the diagonal, which hold 0, 1, 2, … entries.
    const int64_t c = 2 * (m % pairs), entry = (c + 1) * c / 2 + c;
    weight_.select(1, m % config_.axes).select(1, m / pairs).select(1, entry).fill_(frequencies[m].item<double>());
  }
}

}  // namespace ordo
