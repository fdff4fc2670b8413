// SPDX-License-Identifier: Apache-2.0
// Images cut into squares, each a token by one linear map of its pixels (ViT: Dosovitskiy et al. 2021): a convolution
// whose stride is its kernel.
#pragma once
#include "ordo/models/input.h"

namespace ordo {

class PatchInput final : public InputLayer, public Resets {
 public:
  struct Config {
    int64_t size = 0;  // pixels a side
  };
  static constexpr std::string_view kKind = "patches", kSummary = "images cut into squares, each a token";
  // Throws ConfigError for data that are no images, and for sides that `size` does not divide.
  PatchInput(const Config& config, const InputFacts& facts);
  // Images [B, C, H, W] -> (H / size) (W / size) tokens, row by row, with their places in the grid as coords.
  Embedded forward(const ModelInput& in) override;
  int64_t tokens(int64_t length) const override { return length / (size_ * size_); }
  double flops_per_token() const override { return 2.0 * static_cast<double>(weight.numel()); }
  void reset(const Initialiser& init, const std::string& path) override;
  Tensor weight, bias;  // [D, C, size, size]; [D] or undefined

 private:
  SignalFacts signal_;
  int64_t size_;
};
void fields(Fields& f, PatchInput::Config& c);

}  // namespace ordo
