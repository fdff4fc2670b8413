// SPDX-License-Identifier: Apache-2.0
// A bias that a small network makes of the signed distance (as in Swin Transformer V2's continuous bias and
// x-transformers' DynamicPositionBias): bias_h = MLP(f(i - j))_h, f(x) = x or sign(x) ln(1 + |x|), of `depth` layers
// Linear - LayerNorm - SiLU and a last Linear. One network for all layers; past and future differ by the sign.
#pragma once
#include "ordo/positions/encoding.h"

namespace ordo {

class MlpBias final : public PositionEncoding {
 public:
  struct Config {
    int64_t dim = 0;  // width of the layers; 0: a quarter of the model's
    int64_t depth = 2;
    bool log_distance = true;
    bool norm = true;
  };
  static constexpr std::string_view kKind = "mlp_bias",
                                    kSummary = "a small network makes a bias of the signed distance";
  MlpBias(const Config& config, const PositionFacts& facts);
  ~MlpBias() override;
  PositionTraits traits() const override { return {.places = {.scores = true}, .relative = true}; }
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override;

 private:
  class Layer;
  struct Bias;
  Tensor biases(const Tensor& distance, at::ScalarType type) const;  // int64 [n] -> [n, H]
  bool log_distance_;
  std::vector<std::shared_ptr<Layer>> layers_;  // children "layer_0" …, then "out"
};
void fields(Fields& f, MlpBias::Config& c);

}  // namespace ordo
