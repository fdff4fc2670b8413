// SPDX-License-Identifier: Apache-2.0
// Convolutions over time and over images, as input layers have them.
#pragma once
#include "ordo/nn/module.h"

namespace ordo {

// Zeros are put around the input (kernel / 2 on each side), so that with stride 1 and an odd kernel its size stays.
// weight [out, in, kernel] over rows [B, in, L], [out, in, kernel, kernel] over images [B, in, H, W]; bias [out] or
// undefined.
class Convolution : public torch::nn::Module, public Resets {
 public:
  struct Options {
    int64_t axes = 1;  // 1: rows, 2: images
    int64_t kernel = 3, stride = 1;
    bool bias = true;
  };
  Convolution(int64_t in, int64_t out, const Options& options);
  Tensor forward(const Tensor& x) const;
  double flops() const { return 2.0 * static_cast<double>(weight.numel()); }  // of one place of its output
  void reset(const Initialiser& init, const std::string& path) override;
  Tensor weight, bias;

 private:
  int64_t stride_;
};

}  // namespace ordo
