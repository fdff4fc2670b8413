// SPDX-License-Identifier: Apache-2.0
// A few symbols at random places among blanks, and then the symbols alone, in their order: . 3 . . 1 -> 3 1 (Jing et
// al. 2019, "Gated orthogonal recurrent units"; Gu and Dao 2023, "Mamba"). Distances differ from row to row, so what is
// to be copied must be found by what it is. The size counts the row, blanks included; the number of symbols to copy
// stays the same.
#pragma once
#include "ordo/tasks/drawn_task.h"

namespace ordo {

class SelectiveCopy final : public DrawnTask {
 public:
  struct Config {
    DrawnConfig drawn;
    int64_t symbols = 8;
    int64_t copied = 4;  // symbols among the blanks
  };
  static constexpr std::string_view kKind = "selective_copy",
                                    kSummary = "symbols among blanks: the symbols alone, in their order";
  SelectiveCopy(const Config& config, const TaskFacts& facts);
  Example example(KeyedSequence& draw, int64_t size) const override;
  int64_t asked_length(int64_t) const override { return config_.copied; }
  int64_t least_size() const override { return config_.copied; }
  std::string_view kind() const override { return kKind; }

 private:
  Config config_;
};
void fields(Fields& f, SelectiveCopy::Config& c);

}  // namespace ordo
