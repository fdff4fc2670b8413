// SPDX-License-Identifier: Apache-2.0
// Attention over the places of a feature map: 3x3 convolutions make a map of an image, and each of its places is a
// token of as many channels as the model is wide (Bello et al. 2019; Carion et al. 2020). The stack above takes q, k
// and v from a token by linear maps, which over a map are 1x1 convolutions: the same weights at every place.
//
// Zeros stand around the maps, so tokens near the border know of it (Islam et al. 2020): even without a position
// encoding such a model is not wholly blind to where something is.
#pragma once
#include <memory>
#include <vector>

#include "ordo/models/convolution.h"
#include "ordo/models/input.h"

namespace ordo {

class FeatureMapInput final : public InputLayer {
 public:
  struct Config {
    int64_t channels = 32, layers = 2, pools = 1;
    Activation activation = Activation::relu;
  };
  static constexpr std::string_view kKind = "feature_map",
                                    kSummary = "convolutions over images; each place of the last map is a token";
  // Throws ConfigError for data that are no images, for more pools than layers, and for sides that the pools do not
  // halve.
  FeatureMapInput(const Config& config, const InputFacts& facts);
  // Images [B, C, H, W] -> (H / 2^pools) (W / 2^pools) tokens, row by row, with their places in the map as coords.
  Embedded forward(const ModelInput& in) override;
  int64_t tokens(int64_t length) const override { return length >> (2 * config_.pools); }
  double flops_per_token() const override;
  Tensor map(const Tensor& image) const;  // [B, C, H, W] -> [B, D, H / 2^pools, W / 2^pools]

 private:
  Config config_;
  SignalFacts signal_;
  std::vector<std::shared_ptr<Convolution>> layers_;  // children "convolution0", …
};
void fields(Fields& f, FeatureMapInput::Config& c);

}  // namespace ordo
