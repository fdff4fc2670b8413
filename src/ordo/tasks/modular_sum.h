// SPDX-License-Identifier: Apache-2.0
// The sum of a row of numbers, modulo their number of kinds: 4 2 3 -> 4 (modulo 5). Parity is the same modulo 2. All
// answers are equally likely at every length, and stay so when all numbers but one are known.
#pragma once
#include "ordo/tasks/drawn_task.h"

namespace ordo {

class ModularSum final : public DrawnTask {
 public:
  struct Config {
    DrawnConfig drawn;
    int64_t modulus = 5;
  };
  static constexpr std::string_view kKind = "modular_sum", kSummary = "the sum of a row of numbers, modulo a number";
  ModularSum(const Config& config, const TaskFacts& facts);
  Example example(KeyedSequence& draw, int64_t size) const override;
  int64_t asked_length(int64_t) const override { return 1; }
  std::string_view kind() const override { return kKind; }

 private:
  Config config_;
};
void fields(Fields& f, ModularSum::Config& c);

}  // namespace ordo
