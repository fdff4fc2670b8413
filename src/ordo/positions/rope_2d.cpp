// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/rope_2d.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <numbers>

#include "ordo/positions/rotary_checks.h"
#include "ordo/positions/rotate.h"

namespace ordo {

namespace {

constexpr NamedValue kGridVariants[] = {{"pixtral", static_cast<int>(Rope2d::Variant::pixtral)},
                                        {"dinov3", static_cast<int>(Rope2d::Variant::dinov3)}};

// U(-reach, reach): fp64 [count].
Tensor grid_draw(int64_t count, double reach, uint64_t key) {
  const Tensor numbers = at::empty({count}, at::kFloat);
  draw_uniform(numbers, -reach, reach, key);
  return numbers.to(at::kDouble);
}

// Coordinates of two axes that tokens bring: fp64 [B, L, 2].
Tensor given_coordinates(const Positions& at) {
  require<ConfigError>(at.coords.size(-1) == 2, "rope_2d: takes two coordinates a token (row, column), found {}",
                       at.coords.size(-1));
  return at.coords.to(at::kDouble);
}

}  // namespace

void fields(Fields& f, Rope2d::Config& c) {
  f("variant", c.variant, "frequencies shared out between the axes, or coordinates scaled to [-1, 1]", kGridVariants);
  f("theta", c.theta, "base of the wavelengths; absent: 10000 (pixtral), 100 (dinov3)", above(1.0));
  f("width", c.width, "columns of the grid", at_least(1));
  f("height", c.height, "rows of the grid, for dinov3; absent: as many as columns", at_least(1));
  f("prefix_tokens", c.prefix_tokens, "tokens before the first patch, which are not turned", at_least(0));
  f("shift", c.shift, "in training: coordinates move by up to this along each axis", within(0.0, 1e9));
  f("jitter", c.jitter, "in training: each axis is stretched or shrunk by up to this factor", at_least(1.0));
  f("rescale", c.rescale, "in training: both axes are stretched or shrunk together by up to this factor",
    at_least(1.0));
}

Rope2d::Grid Rope2d::grid_of(const Config& c, const PositionFacts& facts) {
  refuse_across(kKind, facts);
  require_groups(kKind, facts, 4);
  const int64_t d = facts.head_dim;
  if (c.variant == Variant::pixtral) {
    require<ConfigError>(!c.height, "rope_2d: height ({}) is for variant dinov3; a pixtral grid needs the width alone",
                         c.height.value_or(0));
    return {c.width, c.prefix_tokens, FixedTensor(at::zeros({2}, at::kDouble)),
            FixedTensor(rotary_frequencies(c.theta.value_or(10000.0), d).view({d / 4, 2}).t().contiguous())};
  }
  // The centre of patch r of n is scaled to 2 (r + 1/2) / n - 1 = (r - (n - 1) / 2) 2 / n.
  const Tensor sizes = at::tensor({c.height.value_or(c.width), c.width}, at::kDouble);
  const Tensor turn = rotary_frequencies(c.theta.value_or(100.0), d / 2) * (2.0 * std::numbers::pi);
  return {c.width, c.prefix_tokens, FixedTensor((sizes - 1.0) / 2.0), FixedTensor(turn * (2.0 / sizes).unsqueeze(1))};
}

Tensor Rope2d::Grid::coordinates(const Tensor& index) const {
  const Tensor patch = index.to(at::kDouble) - static_cast<double>(prefix_tokens);
  const Tensor row = (patch / static_cast<double>(width)).floor();
  return at::stack({row, patch - row * static_cast<double>(width)}, -1);
}

Tensor Rope2d::Grid::table(const Tensor& coordinates, const Tensor& index) const {
  const auto device = coordinates.device();
  const Tensor angles = ((coordinates - origin.on(device)).unsqueeze(-1) * frequencies.on(device)).flatten(-2);
  return turns(prefix_tokens == 0 ? angles : angles.masked_fill(index.lt(prefix_tokens).unsqueeze(-1), 0.0));
}

Rope2d::Rope2d(const Config& config, const PositionFacts& facts)
    : PositionMove(kKind),
      config_(config),
      grid_(grid_of(config, facts)),
      table_([grid = grid_](const Tensor& positions) { return grid.table(grid.coordinates(positions), positions); }) {}

Positions Rope2d::place(const Positions& at, int64_t rows, const Draw& draw) {
  (void)rows;
  if (!is_training() || !moves()) return at;
  const at::NoGradGuard plain;
  const Tensor coords = at.coords.defined() ? given_coordinates(at) : grid_.coordinates(at.index);
  const uint64_t batch = draw_key(draw);
  const Tensor shift = grid_draw(2, config_.shift, mix(batch, 0));
  const Tensor factors =
      (grid_draw(2, std::log(config_.jitter), mix(batch, 1)) + grid_draw(1, std::log(config_.rescale), mix(batch, 2)))
          .exp();
  // The shift counts in the variant's own coordinates: half a side long is 1 in those of dinov3.
  const Tensor side = config_.variant == Variant::dinov3 ? grid_.origin.value() + 0.5 : at::ones({2}, at::kDouble);
  const auto device = coords.device();
  const Tensor origin = grid_.origin.on(device);
  Positions moved = at;
  moved.coords = (coords - origin + (shift * side).to(device)) * factors.to(device) + origin;
  return moved;
}

Tensor Rope2d::turned(const Tensor& x, const Positions& at) {
  const at::ScalarType type = accumulate_type(x.scalar_type());
  if (!at.coords.defined()) return rotate(x, table_.at(at, type), RotaryLayout::half);
  return rotate(x, grid_.table(given_coordinates(at), at.index).to(type), RotaryLayout::half);
}

Tensor Rope2d::query(const Tensor& q, const Positions& at, int64_t layer) {
  (void)layer;
  return turned(q, at);
}

Tensor Rope2d::key(const Tensor& k, const Positions& at, int64_t layer) {
  (void)layer;
  return turned(k, at);
}

Tensor Rope2d::frequencies(int64_t length) const {
  (void)length;
  return grid_.frequencies.value().flatten();
}

}  // namespace ordo
