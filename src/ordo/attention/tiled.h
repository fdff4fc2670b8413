// SPDX-License-Identifier: Apache-2.0
// Any bias, mask, value term, dropout and softcap without an Lq x Lk tensor: strips of rows against their visible keys,
// one softmax each, recomputed on the way back (after Dao et al. 2022, FlashAttention-2 in spirit: the log-sum-exp of
// each row is all that is kept).
#pragma once
#include "ordo/attention/kernel.h"

namespace ordo {

class TiledKernel final : public AttentionKernel {
 public:
  struct Config {
    int64_t rows = 64;
  };  // of a strip on the general path
  static constexpr std::string_view kKind = "tiled",
                                    kSummary = "strips of rows, any encoding, memory linear in the length";
  TiledKernel(const Config& config, const KernelFacts& facts);
  KernelTraits traits() const override;
  std::optional<std::string> refuses(const AttentionCall& call) const override;
  Attended run(const AttentionCall& call) override;

 private:
  Config config_;
};
void fields(Fields& f, TiledKernel::Config& c);

}  // namespace ordo
