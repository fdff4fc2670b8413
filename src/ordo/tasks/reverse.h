// SPDX-License-Identifier: Apache-2.0
// A row, and then the same row backwards: 3 1 2 -> 2 1 3. The first symbol of the answer stands beside its source, the
// last one a whole row and its answer away, so every distance of the trained lengths is needed.
#pragma once
#include "ordo/tasks/drawn_task.h"

namespace ordo {

class Reverse final : public DrawnTask {
 public:
  struct Config {
    DrawnConfig drawn;
    int64_t symbols = 8;
  };
  static constexpr std::string_view kKind = "reverse", kSummary = "a row of symbols, backwards";
  Reverse(const Config& config, const TaskFacts& facts);
  Example example(KeyedSequence& draw, int64_t size) const override;
  std::string_view kind() const override { return kKind; }

 private:
  Config config_;
};
void fields(Fields& f, Reverse::Config& c);

}  // namespace ordo
