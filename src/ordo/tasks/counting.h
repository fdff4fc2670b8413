// SPDX-License-Identifier: Apache-2.0
// Counters with resets, after the counting task of Golovneva et al. 2024 ("Contextual position encoding"): a row of
// operations, each on one of a few variables: pass leaves it, inc adds one, zero sets it back. Asked at each place (the
// paper: once, at the end): the value of the variable named there, after the operation. A variable stops at a cap.
//   row    pass_a inc_a inc_b inc_a zero_a pass_b
//   asked  0      1     1     2     0      1
// Only some of the row is to be counted, back to the last reset: what a position by content can do and one by distance
// cannot. Variables are drawn uniformly.
#pragma once
#include "ordo/tasks/drawn_task.h"

namespace ordo {

class Counting final : public DrawnTask {
 public:
  struct Config {
    DrawnConfig drawn;
    int64_t variables = 1;
    int64_t cap = 10;         // a variable that has come so far stays there
    double increment = 0.19;  // shares of the operations; the rest are passes
    double reset = 0.03;
  };
  static constexpr std::string_view kKind = "counting",
                                    kSummary =
                                        "counters with resets: the running value of the variable named, at each place";
  Counting(const Config& config, const TaskFacts& facts);
  Example example(KeyedSequence& draw, int64_t size) const override;
  std::string_view kind() const override { return kKind; }

 private:
  Config config_;
};
void fields(Fields& f, Counting::Config& c);

}  // namespace ordo
