// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 (Dao 2023) as LibTorch carries it for CUDA, called directly: its windows have gradients, packed
// documents need no mask, and its causal form counts from the last key, as a cache wants it.
#pragma once
#include "ordo/attention/kernel.h"

namespace ordo {

// Where a call would run; apart from the call, so that the choice can be tested without a GPU.
struct FlashPlace {
  bool cuda = false;
  int capability = 0;  // 90 = sm_90
};
std::optional<std::string> flash_refuses(const AttentionCall& call, const FlashPlace& place);
// The call itself, for one that is not refused: [B, H, Lq, E].
Tensor flash_attend(const AttentionCall& call);
// segments int64 [B, L] -> int32 [documents + 1]: where each run of equal numbers starts when the rows are laid end to
// end, and B·L at last.
Tensor document_starts(const Tensor& segments);

class FlashKernel final : public AttentionKernel {
 public:
  struct Config {};
  static constexpr std::string_view kKind = "flash",
                                    kSummary =
                                        "FlashAttention-2 on CUDA: bf16 and fp16, windows, packed documents, no biases";
  FlashKernel(const Config& config, const KernelFacts& facts);
  KernelTraits traits() const override;
  std::optional<std::string> refuses(const AttentionCall& call) const override;
  Attended run(const AttentionCall& call) override;
};
void fields(Fields& f, FlashKernel::Config& c);

}  // namespace ordo
