// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/time_rope.h"

#include <ATen/TensorOperators.h>

#include "ordo/positions/rotary_checks.h"
#include "ordo/positions/rotate.h"

namespace ordo {

void fields(Fields& f, TimeRope::Config& c) {
  f("theta", c.theta, "base of the wavelengths, the slowest is about 2 pi theta units", above(1.0));
  f("unit", c.unit, "how much time is one step, in the unit of the stamps (60: minutes, from seconds)", above(0.0));
  f("origin", c.origin, "the stamp that counts as zero; matters only for units far below the stamps' own size");
}

TimeRope::TimeRope(const Config& config, const PositionFacts& facts)
    : config_(config), head_dim_(facts.head_dim), table_([config, r = facts.head_dim](const Tensor& stamps) {
        const Tensor steps = (stamps - config.origin) / config.unit;
        return turns(steps.unsqueeze(-1) * rotary_frequencies(config.theta, r).to(stamps.device()));
      }) {
  require_groups(kKind, facts, 2);
}

Tensor TimeRope::query(const Tensor& q, const Positions& at, int64_t layer) {
  (void)layer;
  return rotate(q, table_.at(at, accumulate_type(q.scalar_type())), RotaryLayout::half);
}

Tensor TimeRope::key(const Tensor& k, const Positions& at, int64_t layer) {
  (void)layer;
  return rotate(k, table_.at(at, accumulate_type(k.scalar_type())), RotaryLayout::half);
}

Tensor TimeRope::frequencies(int64_t length) const {
  (void)length;
  return rotary_frequencies(config_.theta, head_dim_) / config_.unit;
}

}  // namespace ordo
