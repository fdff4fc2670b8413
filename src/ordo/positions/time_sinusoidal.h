// SPDX-License-Identifier: Apache-2.0
// Sinusoidal encoding on a clock: the rows of `sinusoidal` at the real-valued position (t - t0) / unit. Times are taken
// in fp64 and t0 is subtracted before anything is rounded, so that seconds since 1970 keep their digits.
#pragma once
#include "ordo/positions/encoding.h"
#include "ordo/positions/fusion.h"
#include "ordo/positions/sinusoids.h"
#include "ordo/positions/time.h"

namespace ordo {

class TimeSinusoidal final : public PositionEncoding {
 public:
  struct Config {
    ClockSettings clock;
    SinusoidSettings sines;
    FusionSettings fusion;
  };
  static constexpr std::string_view kKind = "time_sinusoidal",
                                    kSummary = "sines and cosines of the time, added to the input";
  TimeSinusoidal(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.input = true}, .takes_axes = 1}; }
  Tensor input(const Tensor& x, const Positions& at) override;
  Tensor frequencies(int64_t length) const override;  // radians a unit of the stamps

 private:
  Config config_;
  std::shared_ptr<Fusion> fusion_;
};
void fields(Fields& f, TimeSinusoidal::Config& c);

}  // namespace ordo
