// SPDX-License-Identifier: Apache-2.0
// ALiBi on a clock: subtracts slope x |t_i - t_j| / unit from each score, slope = softplus(lambda) learned per head;
// or, as KERPLE does, p ln(1 + a |t_i - t_j| / unit), with p and a the softplus of what is learned. Tokens at the same
// time get no bias: their order comes from the mask alone.
#pragma once
#include "ordo/positions/score_parts.h"

namespace ordo {

class TimeDecay final : public PositionEncoding, public Resets {
 public:
  enum class Variant { linear, log };
  struct Config {
    Variant variant = Variant::linear;
    double unit = 1.0;
    bool shared = false;
  };
  static constexpr std::string_view kKind = "time_decay",
                                    kSummary = "a learned penalty that grows with the time between two tokens";
  TimeDecay(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.scores = true}, .relative = true, .takes_axes = 1}; }
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override;
  // linear: the slopes start as ALiBi's. log: p starts at 1, a at twice ALiBi's slopes.
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  struct Bias;
  double unit_;
  int64_t heads_;
  LayerSets sets_;
  Tensor rate_, power_;  // parameters "rate" (lambda, or a) and, for log, "power" (p): [layers, H], or [H] when shared
};
void fields(Fields& f, TimeDecay::Config& c);

}  // namespace ordo
