// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/lag.h"

#include <algorithm>

#include "ordo/ops/fused_loss.h"
#include "ordo/tasks/rows.h"

namespace ordo {

void fields(Fields& f, Lag::Config& c) {
  f("symbols", c.symbols, "different symbols a row is drawn from", within(2, kMostSymbols));
  f("lag", c.lag, "how many places before", at_least(1));
  drawn_fields(f, c.drawn, Asks::each);
}

Lag::Lag(const Config& config, const TaskFacts& facts)
    : DrawnTask(config.drawn, facts, Asks::each, numbered_symbols(config.symbols)), config_(config) {}

Example Lag::example(KeyedSequence& draw, int64_t size) const {
  auto given = draw_row(draw, size, config_.symbols);
  std::vector<int64_t> asked(given.size(), kIgnore);
  std::copy(given.begin(), given.end() - config_.lag, asked.begin() + config_.lag);
  return {std::move(given), std::move(asked)};
}

}  // namespace ordo
