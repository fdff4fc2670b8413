// SPDX-License-Identifier: Apache-2.0
// Sinusoidal encoding (Vaswani et al. 2017): x + P[i], with the sines and cosines of sinusoids.h. Rows wider than the
// model (position_dim) bring more frequencies of the same range.
#pragma once
#include "ordo/positions/encoding.h"
#include "ordo/positions/fusion.h"
#include "ordo/positions/sinusoids.h"
#include "ordo/positions/table.h"

namespace ordo {

class Sinusoidal final : public PositionEncoding, public Resets {
 public:
  struct Config {
    SinusoidSettings sines = {};
    double scale = 1.0;  // of the rows
    bool learned_scale = false;
    FusionSettings fusion = {};
  };
  static constexpr std::string_view kKind = "sinusoidal",
                                    kSummary = "sines and cosines of the position, added to the input";
  Sinusoidal(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.input = true}, .takes_axes = 1}; }
  Tensor input(const Tensor& x, const Positions& at) override;
  Tensor frequencies(int64_t length) const override;
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  SinusoidSettings sines_;
  std::shared_ptr<Fusion> fusion_;  // child "fusion"
  PositionTable table_;
  Tensor scale_;  // parameter "scale", a scalar; undefined unless learned_scale
};
void fields(Fields& f, Sinusoidal::Config& c);

}  // namespace ordo
