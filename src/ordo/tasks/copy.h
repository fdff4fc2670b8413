// SPDX-License-Identifier: Apache-2.0
// Say the row again, symbol for symbol: every place must be found by its number alone.
#pragma once
#include "ordo/tasks/drawn_task.h"

namespace ordo {

class Copy final : public DrawnTask {
 public:
  struct Config {
    DrawnConfig drawn;
    int64_t symbols = 12;
  };
  static constexpr std::string_view kKind = "copy", kSummary = "say a row of symbols again";
  Copy(const Config& config, const TaskFacts& facts);
  Example example(KeyedSequence& draw, int64_t size) const override;
  std::string_view kind() const override { return kKind; }

 private:
  Config config_;
};
void fields(Fields& f, Copy::Config& c);

}  // namespace ordo
