// SPDX-License-Identifier: Apache-2.0
// Rotary encoding (Su et al. 2021): pair m of a head's channels is turned by i w_m, w_m = theta^(-2m/r), so that a
// score depends on the distance alone. The first r channels take part (all by default); real-valued positions are
// welcome.
#pragma once
#include "ordo/positions/encoding.h"
#include "ordo/positions/rotate.h"
#include "ordo/positions/table.h"

namespace ordo {

class Rope final : public PositionEncoding {
 public:
  struct Config {
    double theta = 10000.0;
    RotaryLayout layout = RotaryLayout::half;
    double partial_rotary_factor = 1.0;
    int64_t rotary_dim = 0;  // 0: head_dim x partial_rotary_factor
  };
  static constexpr std::string_view kKind = "rope",
                                    kSummary = "rotates query and key channels by angles that grow with the position";
  Rope(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.query_key = true}, .relative = true}; }
  Tensor query(const Tensor& q, const Positions& at, int64_t layer) override;
  Tensor key(const Tensor& k, const Positions& at, int64_t layer) override;
  // theta^(-2m/r), m < r/2, fp64 [r/2].
  static Tensor frequencies(double theta, int64_t rotary_dim);

 private:
  RotaryLayout layout_;
  PositionTable table_;  // rows: r/2 cosines, then r/2 sines
};
void fields(Fields& f, Rope::Config& c);

}  // namespace ordo
