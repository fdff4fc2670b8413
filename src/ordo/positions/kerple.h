// SPDX-License-Identifier: Apache-2.0
// KERPLE (Chi et al. 2022): a learned penalty of the distance d = |query - key| from each score, by kernels that are
// conditionally positive definite.
//   log:   -p ln(1 + a d)        power: -a d^p        log3: -b ln(1 + a d^p)
// With `multiplicative` the score of content is first multiplied by exp(-weight_a d^weight_p); that reads queries and
// keys, so kernels that know biases over offsets alone refuse it, and a softcap cannot stand beside it.
// One set a layer: a few numbers a head. Each is used as at least 0.01 (the exponent of power also as at most 2).
#pragma once
#include "ordo/positions/encoding.h"

namespace ordo {

class Kerple final : public PositionEncoding, public Resets {
 public:
  enum class Variant { log, power, log3 };
  struct Config {
    Variant variant = Variant::log;
    bool multiplicative = false;
  };
  static constexpr std::string_view kKind = "kerple",
                                    kSummary = "subtracts a learned function of the distance from each score";
  Kerple(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.scores = true}, .relative = true}; }
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override;
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  // Of a layer, within their bounds; what a variant lacks is undefined.
  struct Numbers {
    Tensor a, b, p, weight_a, weight_p;  // each [H], parameters of the same names [layers, H]
    std::vector<Tensor> defined() const;
  };
  struct Bias;
  Numbers of_layer(const AttentionPass& pass) const;
  Config config_;
  Numbers all_;
};
void fields(Fields& f, Kerple::Config& c);

}  // namespace ordo
