// SPDX-License-Identifier: Apache-2.0
// The reference: whole score matrices under plain autograd, softmax in at least fp32 (Vaswani et al. 2017). Every other
// kernel is tested against it.
#pragma once
#include "ordo/attention/kernel.h"

namespace ordo {

class EagerKernel final : public AttentionKernel {
 public:
  struct Config {};
  static constexpr std::string_view kKind = "eager",
                                    kSummary = "the reference: whole score matrices, any encoding, gives weights";
  EagerKernel(const Config& config, const KernelFacts& facts);
  KernelTraits traits() const override;
  std::optional<std::string> refuses(const AttentionCall& call) const override;
  Attended run(const AttentionCall& call) override;
};
void fields(Fields& f, EagerKernel::Config& c);

}  // namespace ordo
