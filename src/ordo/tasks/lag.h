// SPDX-License-Identifier: Apache-2.0
// At each place, the symbol that stood a fixed number of places before; nothing is asked of the first ones. It needs
// one exact distance and nothing else, so it shows how finely a position encoding tells distances apart.
//   row    3 1 0 2    (lag 2)
//   asked  . . 3 1
#pragma once
#include "ordo/tasks/drawn_task.h"

namespace ordo {

class Lag final : public DrawnTask {
 public:
  struct Config {
    DrawnConfig drawn;
    int64_t symbols = 8;
    int64_t lag = 8;
  };
  static constexpr std::string_view kKind = "lag",
                                    kSummary = "the symbol that stood a fixed number of places before, at each place";
  Lag(const Config& config, const TaskFacts& facts);
  Example example(KeyedSequence& draw, int64_t size) const override;
  int64_t least_size() const override { return config_.lag + 1; }
  std::string_view kind() const override { return kKind; }

 private:
  Config config_;
};
void fields(Fields& f, Lag::Config& c);

}  // namespace ordo
