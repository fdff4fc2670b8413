// SPDX-License-Identifier: Apache-2.0
// Is the number of ones even or odd: 1 0 1 1 -> 1. Every symbol counts, and one more changes the answer, which is what
// attention, a mean over the row, does worst (Hahn 2020, "Theoretical limitations of self-attention"). Bits are fair
// and independent, so both answers are equally likely at every length, and stay so when all bits but one are known.
#pragma once
#include "ordo/tasks/drawn_task.h"

namespace ordo {

class Parity final : public DrawnTask {
 public:
  struct Config {
    DrawnConfig drawn;
  };
  static constexpr std::string_view kKind = "parity", kSummary = "whether a row of bits holds an odd number of ones";
  Parity(const Config& config, const TaskFacts& facts);
  Example example(KeyedSequence& draw, int64_t size) const override;
  int64_t asked_length(int64_t) const override { return 1; }
  std::string_view kind() const override { return kKind; }
};
void fields(Fields& f, Parity::Config& c);

}  // namespace ordo
