// SPDX-License-Identifier: Apache-2.0
// The symbol that stands most often in the row: 1 0 1 -> 1. Order does not matter, so a model without position encoding
// can do it: the control among tasks that need one. Rows are uniform among those with a single winner, which makes all
// answers equally likely at every length; most rows are won by a narrow margin.
#pragma once
#include "ordo/tasks/drawn_task.h"

namespace ordo {

class Majority final : public DrawnTask {
 public:
  struct Config {
    DrawnConfig drawn;
    int64_t symbols = 2;
  };
  static constexpr std::string_view kKind = "majority", kSummary = "the symbol that stands most often in a row";
  Majority(const Config& config, const TaskFacts& facts);
  Example example(KeyedSequence& draw, int64_t size) const override;
  int64_t asked_length(int64_t) const override { return 1; }
  std::string_view kind() const override { return kKind; }

 private:
  Config config_;
};
void fields(Fields& f, Majority::Config& c);

}  // namespace ordo
