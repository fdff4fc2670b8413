// SPDX-License-Identifier: Apache-2.0
// A fixed table with a learned correction: x + P[i] + alpha E[i], P sines and cosines, E a table that starts at zero,
// so that training starts as the pure sinusoid. Past the table the correction is zero and the sinusoid goes on alone.
#pragma once
#include "ordo/positions/encoding.h"
#include "ordo/positions/fusion.h"
#include "ordo/positions/resize.h"
#include "ordo/positions/sinusoids.h"
#include "ordo/positions/table.h"

namespace ordo {

class SinusoidalLearned final : public PositionEncoding, public Resets {
 public:
  struct Config {
    SinusoidSettings sines = {};
    int64_t max_positions = 0;   // rows of E; 0: the model's max_length
    bool learned_alpha = false;  // absent: alpha is 1
    OnResize on_resize = OnResize::extend;
    FusionSettings fusion = {};
  };
  static constexpr std::string_view kKind = "sinusoidal_learned",
                                    kSummary = "sines and cosines with a learned correction for each position";
  SinusoidalLearned(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.input = true}}; }
  Tensor input(const Tensor& x, const Positions& at) override;
  Tensor frequencies(int64_t length) const override;
  std::optional<Resized> resized(const std::string& name, const Tensor& saved) const override;
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  Tensor correction(const Positions& at, at::ScalarType type) const;  // [1|B, L, Dp]
  Config config_;
  std::shared_ptr<Fusion> fusion_;  // child "fusion"
  PositionTable table_;
  Tensor weight_, alpha_;  // parameters "weight" [max_positions, Dp] and, when learned, "alpha", a scalar from 1
};
void fields(Fields& f, SinusoidalLearned::Config& c);

}  // namespace ordo
