// SPDX-License-Identifier: Apache-2.0
// Time2Vec (Kazemi et al. 2019): the row of a time t is [omega_0 t + phi_0, sin(omega_m t + phi_m), …], omega and phi
// learned. The frequencies start log-uniform between 1/span and 1/step, the straight line at 1/span, so that it ends
// near 1.
#pragma once
#include "ordo/positions/encoding.h"
#include "ordo/positions/fusion.h"
#include "ordo/positions/time.h"

namespace ordo {

class Time2Vec final : public PositionEncoding, public Resets {
 public:
  struct Config {
    ClockSettings clock;
    ScaleSettings scales;
    FusionSettings fusion;
  };
  static constexpr std::string_view kKind = "time2vec",
                                    kSummary = "a line and sines of the time with learned frequencies";
  Time2Vec(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.input = true}, .takes_axes = 1}; }
  Tensor input(const Tensor& x, const Positions& at) override;
  Tensor frequencies(int64_t length) const override;  // radians a unit of the stamps, as they are now
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  Config config_;
  double span_;
  std::shared_ptr<Fusion> fusion_;
  Tensor omega_, phi_;  // parameters [width]
};
void fields(Fields& f, Time2Vec::Config& c);

}  // namespace ordo
