// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/sinusoidal.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <cmath>

namespace ordo {

namespace {
constexpr NamedValue kSinusoidalLayouts[] = {{"interleaved", static_cast<int>(Sinusoidal::Layout::interleaved)},
                                             {"half", static_cast<int>(Sinusoidal::Layout::half)}};
constexpr NamedValue kSinusoidalExponents[] = {{"paper", static_cast<int>(Sinusoidal::Exponent::paper)},
                                               {"t2t", static_cast<int>(Sinusoidal::Exponent::t2t)}};

// positions [...] -> [..., dim]. Of an odd width, the paper's exponent gives one sine more than cosines (as Marian),
// t2t's a last column of zeros (as fairseq).
Tensor sinusoids(const Tensor& positions, int64_t dim, const Sinusoidal::Config& config) {
  const bool paper = config.exponent == Sinusoidal::Exponent::paper;
  const int64_t pairs = paper ? (dim + 1) / 2 : dim / 2;
  const double step =
      paper ? 2.0 / static_cast<double>(dim) : 1.0 / static_cast<double>(std::max<int64_t>(pairs - 1, 1));
  const Tensor frequencies = at::pow(config.theta, at::arange(pairs, positions.options()) * -step);
  const Tensor angles = positions.unsqueeze(-1) * frequencies;
  const Tensor sines = angles.sin(), cosines = angles.cos();
  Tensor columns = config.layout == Sinusoidal::Layout::half ? at::cat({sines, cosines}, -1)
                                                             : at::stack({sines, cosines}, -1).flatten(-2);
  if (columns.size(-1) > dim) return columns.slice(-1, 0, dim);
  return columns.size(-1) == dim ? columns : at::constant_pad_nd(columns, {0, dim - columns.size(-1)});
}
}  // namespace

void fields(Fields& f, Sinusoidal::Config& c) {
  f("theta", c.theta, "base of the wavelengths", above(1.0));
  f("layout", c.layout, "columns: sine and cosine alternate, or sines first", kSinusoidalLayouts);
  f("exponent", c.exponent, "frequencies: theta^(-2m/dim), or theta^(-m/(dim/2-1)) as tensor2tensor",
    kSinusoidalExponents);
  f("learned_scale", c.learned_scale, "multiply the table by a learned number that starts at dim^-0.5");
}

Sinusoidal::Sinusoidal(const Config& config, const PositionFacts& facts)
    : dim_(facts.dim),
      table_([config, dim = facts.dim](const Tensor& positions) { return sinusoids(positions, dim, config); }) {
  if (config.learned_scale) scale_ = register_parameter("scale", at::ones({}));
}

Tensor Sinusoidal::input(const Tensor& x, const Positions& at) {
  const Tensor table = table_.at(at, accumulate_type(x.scalar_type()));
  return (scale_.defined() ? x + scale_ * table : x + table).to(x.scalar_type());
}

void Sinusoidal::reset(const Initialiser& init, const std::string& path) {
  (void)init, (void)path;
  if (scale_.defined()) scale_.fill_(1.0 / std::sqrt(static_cast<double>(dim_)));
}

}  // namespace ordo
