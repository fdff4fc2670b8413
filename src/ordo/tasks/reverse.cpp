// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/reverse.h"

#include "ordo/tasks/rows.h"

namespace ordo {

void fields(Fields& f, Reverse::Config& c) {
  f("symbols", c.symbols, "different symbols a row is drawn from", within(2, kMostSymbols));
  drawn_fields(f, c.drawn, Asks::sequence);
}

Reverse::Reverse(const Config& config, const TaskFacts& facts)
    : DrawnTask(config.drawn, facts, Asks::sequence, numbered_symbols(config.symbols)), config_(config) {}

Example Reverse::example(KeyedSequence& draw, int64_t size) const {
  auto given = draw_row(draw, size, config_.symbols);
  std::vector<int64_t> asked(given.rbegin(), given.rend());
  return {std::move(given), std::move(asked)};
}

}  // namespace ordo
