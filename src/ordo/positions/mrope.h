// SPDX-License-Identifier: Apache-2.0
// Multimodal rotary encoding (M-RoPE, Qwen2-VL: Wang et al. 2024): `coords` of three axes, time, height and width, each
// turning its own section of the frequencies, in that order. Text has three equal coordinates and so is plain rope; it
// needs no coords at all.
#pragma once
#include "ordo/positions/encoding.h"
#include "ordo/positions/fixed.h"
#include "ordo/positions/table.h"

namespace ordo {

class Mrope final : public PositionEncoding {
 public:
  struct Config {
    double theta = 10000.0;
    std::vector<int64_t> mrope_section = {};  // empty: 2 : 3 : 3
  };
  static constexpr std::string_view kKind = "mrope",
                                    kSummary = "rotary turns by time, height and width, each over its own frequencies";
  Mrope(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.query_key = true}, .relative = true, .takes_axes = 3}; }
  Tensor query(const Tensor& q, const Positions& at, int64_t layer) override;
  Tensor key(const Tensor& k, const Positions& at, int64_t layer) override;
  Tensor frequencies(int64_t length) const override;

 private:
  Tensor turned(const Tensor& x, const Positions& at);
  FixedTensor frequencies_;  // fp64 [pairs]
  FixedTensor axis_;         // int64 [pairs]: whose coordinate turns the pair
  PositionTable table_;      // of tokens without coords
};
void fields(Fields& f, Mrope::Config& c);

}  // namespace ordo
