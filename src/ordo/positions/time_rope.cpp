// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/time_rope.h"

#include <ATen/TensorOperators.h>

#include "ordo/positions/rotary_checks.h"
#include "ordo/positions/rotate.h"
#include "ordo/positions/time.h"

namespace ordo {

void fields(Fields& f, TimeRope::Config& c) {
  f("theta", c.theta, "base of the wavelengths, the slowest is about 2 pi theta units", above(1.0));
  unit_field(f, c.unit);
  f("origin", c.origin, "the stamp that counts as zero; matters only for units far below the stamps' own size");
}

TimeRope::TimeRope(const Config& config, const PositionFacts& facts)
    : unit_(config.unit),
      frequencies_(rotary_frequencies(config.theta, facts.head_dim)),
      table_([all = frequencies_, unit = config.unit, origin = config.origin](const Tensor& stamps) {
        return turns(((stamps - origin) / unit).unsqueeze(-1) * all.on(stamps.device()));
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
  return frequencies_.value() / unit_;
}

}  // namespace ordo
