// SPDX-License-Identifier: Apache-2.0
// LibTorch's scaled_dot_product_attention, called only where it stays on its fused path and is exact.
#pragma once
#include "ordo/attention/kernel.h"

namespace ordo {

class SdpaKernel final : public AttentionKernel {
 public:
  struct Config {};
  static constexpr std::string_view kKind = "sdpa",
                                    kSummary = "LibTorch's fused attention: no value terms, no learned biases";
  SdpaKernel(const Config& config, const KernelFacts& facts);
  KernelTraits traits() const override;
  std::optional<std::string> refuses(const AttentionCall& call) const override;
  Attended run(const AttentionCall& call) override;
};
void fields(Fields& f, SdpaKernel::Config& c);

}  // namespace ordo
