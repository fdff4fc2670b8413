// SPDX-License-Identifier: Apache-2.0
// A row, and then its symbols in ascending order, equal ones as often as they stand there: 3 1 2 1 -> 1 1 2 3. Where a
// symbol stands in the row does not matter: what must be counted is how many are smaller.
#pragma once
#include "ordo/tasks/drawn_task.h"

namespace ordo {

class Sort final : public DrawnTask {
 public:
  struct Config {
    DrawnConfig drawn;
    int64_t symbols = 10;
  };
  static constexpr std::string_view kKind = "sort", kSummary = "a row of symbols, in ascending order";
  Sort(const Config& config, const TaskFacts& facts);
  Example example(KeyedSequence& draw, int64_t size) const override;
  std::string_view kind() const override { return kKind; }

 private:
  Config config_;
};
void fields(Fields& f, Sort::Config& c);

}  // namespace ordo
