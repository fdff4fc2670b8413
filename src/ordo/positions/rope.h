// SPDX-License-Identifier: Apache-2.0
// Rotary encoding (Su et al. 2021): pair m of a head's channels is turned by i w_m, w_m = theta^(-2m/r), so that a
// score depends on the distance alone. The first r channels take part (all by default); real-valued positions are
// welcome.
//
// A scaling changes the frequencies for longer sequences. Those of `dynamic` and `longrope` depend on the length N of
// the sequence, found for each row from its last position (of packed rows: the longest document's). The cache then
// holds keys as they were before the turn, and each step turns all of them: when decoding passes the original length,
// every key gets the new frequencies, and nothing of the old ones stays. What a token saw before is not computed again,
// so decoding equals one full pass as long as N stays within the original length; past it, a full pass shows early
// tokens the frequencies of the whole length, decoding those of their time.
#pragma once
#include <mutex>

#include "ordo/positions/encoding.h"
#include "ordo/positions/rope_scaling.h"
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
    bool rotary_value = false;
    Choice<RopeScaling> scaling{"none"};
  };
  static constexpr std::string_view kKind = "rope",
                                    kSummary = "rotates query and key channels by angles that grow with the position";
  Rope(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override;
  Tensor query(const Tensor& q, const Positions& at, int64_t layer) override;
  Tensor key(const Tensor& k, const Positions& at, int64_t layer) override;
  Tensor value(const Tensor& v, const Positions& at, int64_t layer) override;
  Tensor frequencies(int64_t length) const override;

 private:
  Tensor turned(const Tensor& x, const Positions& at);
  Tensor rows(const Positions& at, at::ScalarType type);
  Tensor rows_by_length(const Positions& at) const;
  std::unique_ptr<PositionTable> table_of(int64_t length) const;
  RotaryLayout layout_;
  bool rotary_value_;
  std::shared_ptr<RopeScaling> scaling_;
  std::mutex tables_;                     // guards what follows, and the state of a scaling that remembers
  int64_t table_length_ = 0;              // whose frequencies the table has
  std::unique_ptr<PositionTable> table_;  // rows: r/2 cosines, then r/2 sines
};
void fields(Fields& f, Rope::Config& c);

}  // namespace ordo
