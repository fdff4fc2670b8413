// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/time_sinusoidal.h"

#include <ATen/TensorOperators.h>

namespace ordo {

void fields(Fields& f, TimeSinusoidal::Config& c) {
  fields(f, c.clock);
  fields(f, c.sines);
  fields(f, c.fusion);
}

TimeSinusoidal::TimeSinusoidal(const Config& config, const PositionFacts& facts)
    : config_(config), fusion_(register_module("fusion", std::make_shared<Fusion>(config.fusion, facts.dim))) {
  require_columns(kKind, fusion_->width(), config_.sines);
}

Tensor TimeSinusoidal::input(const Tensor& x, const Positions& at) {
  const Tensor rows = sinusoids(clock_times(at, config_.clock, kKind), fusion_->width(), config_.sines);
  return fusion_->forward(x, rows.to(accumulate_type(x.scalar_type())));
}

Tensor TimeSinusoidal::frequencies(int64_t length) const {
  (void)length;
  return sinusoid_frequencies(fusion_->width(), config_.sines) / config_.clock.unit;
}

}  // namespace ordo
