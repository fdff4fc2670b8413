// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/sinusoids.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/stack.h>

#include <algorithm>

#include "ordo/core/errors.h"

namespace ordo {

namespace {
constexpr NamedValue kSinusoidLayouts[] = {{"interleaved", static_cast<int>(SinusoidLayout::interleaved)},
                                           {"half", static_cast<int>(SinusoidLayout::half)}};
constexpr NamedValue kSinusoidExponents[] = {{"paper", static_cast<int>(SinusoidExponent::paper)},
                                             {"t2t", static_cast<int>(SinusoidExponent::t2t)}};
}  // namespace

void fields(Fields& f, SinusoidSettings& c) {
  f("theta", c.theta, "base of the wavelengths", above(1.0));
  f("layout", c.layout, "columns: sine and cosine alternate, or sines first", kSinusoidLayouts);
  f("exponent", c.exponent, "frequencies: theta^(-2m/width), or theta^(-m/(width/2-1)) as tensor2tensor",
    kSinusoidExponents);
  f("frequencies", c.frequencies, "how many different ones, repeated to fill the columns; 0: one for each pair",
    at_least(0));
}

namespace {
int64_t pairs_of(int64_t width, const SinusoidSettings& settings) {
  return settings.exponent == SinusoidExponent::paper ? (width + 1) / 2 : width / 2;
}
}  // namespace

at::Tensor sinusoid_frequencies(int64_t width, const SinusoidSettings& settings) {
  if (settings.frequencies > 0) {
    SinusoidSettings narrow = settings;
    narrow.frequencies = 0;
    const int64_t pairs = pairs_of(width, settings);
    const at::Tensor pair = at::arange(pairs, at::TensorOptions(at::kLong));
    return sinusoid_frequencies(2 * settings.frequencies, narrow)
        .index_select(0, pair.mul(settings.frequencies).floor_divide(pairs));
  }
  const bool paper = settings.exponent == SinusoidExponent::paper;
  const int64_t pairs = pairs_of(width, settings);
  const double step =
      paper ? 2.0 / static_cast<double>(width) : 1.0 / static_cast<double>(std::max<int64_t>(pairs - 1, 1));
  return at::pow(settings.theta, at::arange(pairs, at::TensorOptions(at::kDouble)) * -step);
}

at::Tensor sinusoids(const at::Tensor& positions, int64_t width, const SinusoidSettings& settings) {
  const at::Tensor angles = positions.unsqueeze(-1) * sinusoid_frequencies(width, settings).to(positions.device());
  const at::Tensor sines = angles.sin(), cosines = angles.cos();
  const at::Tensor columns = settings.layout == SinusoidLayout::half ? at::cat({sines, cosines}, -1)
                                                                     : at::stack({sines, cosines}, -1).flatten(-2);
  if (columns.size(-1) > width) return columns.slice(-1, 0, width);
  return columns.size(-1) == width ? columns : at::constant_pad_nd(columns, {0, width - columns.size(-1)});
}

void require_columns(std::string_view kind, int64_t width, const SinusoidSettings& settings) {
  require<ConfigError>(settings.frequencies <= pairs_of(width, settings),
                       "{}: {} different frequencies need rows of at least {} columns, but these are {} wide", kind,
                       settings.frequencies, 2 * settings.frequencies, width);
  require<ConfigError>(settings.layout == SinusoidLayout::half || width % 2 == 0,
                       "{}: layout interleaved pairs sines with cosines, but the rows are {} wide; use layout: half, "
                       "or position_dim: {}",
                       kind, width, width + 1);
}

}  // namespace ordo
