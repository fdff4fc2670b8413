// SPDX-License-Identifier: Apache-2.0
// Rotary encoding on a clock: the position of a token is (t - origin) / unit, real-valued, t the one axis of `coords`
// (without coords, the index is the time). Irregular gaps become angles; scores depend on the time between two tokens
// alone. Choose theta so that the slowest wavelength, about 2 pi theta units, exceeds the span of the data.
//
// Angles are taken in fp64 from stamps in fp64, so that seconds since 1970 turn to 4e-7 radians; the origin cancels in
// every score and only serves to keep stamps exact when the unit is much shorter. It is a setting rather than each
// row's first stamp, because a cache holds turned keys and a later call does not know what came first.
#pragma once
#include "ordo/positions/encoding.h"
#include "ordo/positions/fixed.h"
#include "ordo/positions/table.h"

namespace ordo {

class TimeRope final : public PositionEncoding {
 public:
  struct Config {
    double theta = 10000.0;
    double unit = 1.0;
    double origin = 0.0;
  };
  static constexpr std::string_view kKind = "time_rope",
                                    kSummary = "rotary turns by time stamps instead of places in the sequence";
  TimeRope(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.query_key = true}, .relative = true, .takes_axes = 1}; }
  Tensor query(const Tensor& q, const Positions& at, int64_t layer) override;
  Tensor key(const Tensor& k, const Positions& at, int64_t layer) override;
  Tensor frequencies(int64_t length) const override;  // radians a unit of the stamps

 private:
  double unit_;
  FixedTensor frequencies_;  // fp64 [pairs], radians a step
  PositionTable table_;      // rows: cosines, then sines
};
void fields(Fields& f, TimeRope::Config& c);

}  // namespace ordo
