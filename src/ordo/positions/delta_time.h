// SPDX-License-Identifier: Apache-2.0
// The gap to the token before: [ln(1 + gap), gap] in units, 0 for the first token of a row, through a linear layer onto
// the input. Of a row that goes on from an earlier call (a cache), the gap before its first token is 1 for the index;
// with time stamps it is not known, unless `coords` have two axes: the time, and the gap before it.
#pragma once
#include "ordo/positions/encoding.h"

namespace ordo {

class DeltaTime final : public PositionEncoding {
 public:
  struct Config {
    double unit = 1.0;
  };
  static constexpr std::string_view kKind = "delta_time",
                                    kSummary = "the time since the token before, added to the input";
  DeltaTime(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.input = true}, .takes_axes = 1}; }
  Tensor input(const Tensor& x, const Positions& at) override;

 private:
  double unit_;
  std::shared_ptr<Linear> project_;
};
void fields(Fields& f, DeltaTime::Config& c);

}  // namespace ordo
