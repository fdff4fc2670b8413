// SPDX-License-Identifier: Apache-2.0
// Two numbers of as many digits as the size says, filled up with zeros, and then their sum, one digit longer:
// 0 7 + 9 5 -> 1 0 2. Written with the last digit first, each digit of the sum needs only the two above it and one
// carry (Lee et al. 2023, "Teaching arithmetic to small transformers": the sum alone; Zhou et al. 2024, "Transformers
// can achieve length generalization but not robustly": all numbers). Digits are uniform, so a carry happens in about
// half the places.
#pragma once
#include "ordo/tasks/drawn_task.h"

namespace ordo {

// Which numbers are written with their last digit first.
enum class Reversed { none, sum, all };

class Addition final : public DrawnTask {
 public:
  struct Config {
    DrawnConfig drawn;
    Reversed reversed = Reversed::all;
    int64_t base = 10;
  };
  static constexpr std::string_view kKind = "addition",
                                    kSummary = "the sum of two numbers, digit by digit, in plain or reversed order";
  Addition(const Config& config, const TaskFacts& facts);
  Example example(KeyedSequence& draw, int64_t size) const override;
  int64_t given_length(int64_t size) const override { return 2 * size + 1; }
  int64_t asked_length(int64_t size) const override { return size + 1; }
  std::string_view kind() const override { return kKind; }

 private:
  Config config_;
};
void fields(Fields& f, Addition::Config& c);

}  // namespace ordo
