// SPDX-License-Identifier: Apache-2.0
// Frames of sound, or of anything else that comes in short steps, thinned out by convolutions over time before they
// become tokens, as speech recognisers do (Mohamed et al. 2019; Gulati et al. 2020): every convolution (kernel 3,
// stride 2) halves the length, and a linear map makes tokens of what is left. What stands beyond the end of a row
// counts as zeros in every layer, so a row gives the same tokens alone and beside longer ones.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "ordo/models/convolution.h"
#include "ordo/models/input.h"

namespace ordo {

class FrameInput final : public InputLayer {
 public:
  struct Config {
    int64_t subsample = 4;                      // frames a token: 1, 2, 4, …
    std::optional<int64_t> channels = {};       // of the convolutions; absent: the model's width
    std::optional<Activation> activation = {};  // absent: gelu
  };
  static constexpr std::string_view kKind = "frames",
                                    kSummary = "frames of sound, thinned out by convolutions over time";
  // Throws ConfigError for data that are no frames, for a subsample that is no power of 2, and for settings of
  // convolutions where there is none.
  FrameInput(const Config& config, const InputFacts& facts);
  // Frames [B, T, F], mask.keys [B, T] (rows end in padding) or undefined -> tokens(T) tokens; token i stands for the
  // frames around subsample * i.
  Embedded forward(const ModelInput& in) override;
  int64_t tokens(int64_t length) const override;
  double flops_per_token() const override;

 private:
  int64_t features_;
  Activation activation_;
  std::vector<std::shared_ptr<Convolution>> layers_;  // children "convolution0", …
  std::shared_ptr<Linear> linear_;                    // child "linear"
};
void fields(Fields& f, FrameInput::Config& c);

}  // namespace ordo
