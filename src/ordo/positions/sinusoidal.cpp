// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/sinusoidal.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>

#include <cmath>

namespace ordo {

void fields(Fields& f, Sinusoidal::Config& c) {
  fields(f, c.sines);
  f("scale", c.scale, "multiply the rows, of root mean square 0.71, by this", above(0.0));
  f("learned_scale", c.learned_scale, "multiply them by a learned number that starts at (their width)^-0.5");
  fields(f, c.fusion);
}

Sinusoidal::Sinusoidal(const Config& config, const PositionFacts& facts)
    : sines_(config.sines),
      fusion_(register_module("fusion", std::make_shared<Fusion>(config.fusion, facts.dim))),
      table_([sines = config.sines, width = fusion_->width(), scale = config.scale](const Tensor& positions) {
        return sinusoids(positions, width, sines) * scale;
      }) {
  require_columns(kKind, fusion_->width(), sines_);
  if (config.learned_scale) scale_ = register_parameter("scale", at::ones({}));
}

Tensor Sinusoidal::input(const Tensor& x, const Positions& at) {
  const Tensor rows = table_.at(at, accumulate_type(x.scalar_type()));
  return fusion_->forward(x, scale_.defined() ? scale_.to(rows.scalar_type()) * rows : rows);
}

Tensor Sinusoidal::frequencies(int64_t length) const {
  (void)length;
  return sinusoid_frequencies(fusion_->width(), sines_);
}

void Sinusoidal::reset(const Initialiser& init, const std::string& path) {
  (void)init, (void)path;
  if (scale_.defined()) scale_.fill_(1.0 / std::sqrt(static_cast<double>(fusion_->width())));
}

}  // namespace ordo
