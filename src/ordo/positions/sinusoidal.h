// SPDX-License-Identifier: Apache-2.0
// Sinusoidal encoding (Vaswani et al. 2017): x + P[i], columns sin(i w_m) and cos(i w_m). Three conventions are in use,
// and a trained checkpoint knows only its own: interleaved columns with w_m = theta^(-2m/D) (the paper), sines then
// cosines with the same frequencies (Marian), or with w_m = theta^(-m/(D/2-1)) (tensor2tensor, fairseq, Whisper).
#pragma once
#include "ordo/positions/encoding.h"
#include "ordo/positions/table.h"

namespace ordo {

class Sinusoidal final : public PositionEncoding, public Resets {
 public:
  enum class Layout { interleaved, half };
  enum class Exponent { paper, t2t };
  struct Config {
    double theta = 10000.0;
    Layout layout = Layout::interleaved;
    Exponent exponent = Exponent::paper;
    bool learned_scale = false;
  };
  static constexpr std::string_view kKind = "sinusoidal",
                                    kSummary = "sines and cosines of the position, added to the input";
  Sinusoidal(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.input = true}}; }
  Tensor input(const Tensor& x, const Positions& at) override;
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  int64_t dim_;
  PositionTable table_;
  Tensor scale_;  // parameter "scale", a scalar; undefined unless learned_scale
};
void fields(Fields& f, Sinusoidal::Config& c);

}  // namespace ordo
