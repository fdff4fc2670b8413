// SPDX-License-Identifier: Apache-2.0
// How old each token is when the row ends: features exp(-(t_end - t_j) / tau_m), with tau_m log-spaced between one step
// and the whole span, pass through a linear layer and join the input. It knows where a row ends, so it is for stacks
// that see both sides.
#pragma once
#include "ordo/positions/encoding.h"
#include "ordo/positions/fixed.h"
#include "ordo/positions/time.h"

namespace ordo {

class TimeAge final : public PositionEncoding {
 public:
  struct Config {
    int64_t features = 8;
    double unit = 1.0;
    ScaleSettings scales;
  };
  static constexpr std::string_view kKind = "time_age",
                                    kSummary = "how long before the end of the row a token was, for two-sided stacks";
  TimeAge(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.input = true}, .relative = true, .takes_axes = 1}; }
  Tensor input(const Tensor& x, const Positions& at) override;

 private:
  double unit_;
  FixedTensor rates_;  // fp64 [features]: 1 / tau_m, per unit
  std::shared_ptr<Linear> project_;
};
void fields(Fields& f, TimeAge::Config& c);

}  // namespace ordo
