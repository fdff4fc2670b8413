// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/copy.h"

#include "ordo/tasks/rows.h"

namespace ordo {

void fields(Fields& f, Copy::Config& c) {
  f("symbols", c.symbols, "different symbols a row is drawn from", within(2, kMostSymbols));
  drawn_fields(f, c.drawn, Asks::sequence);
}

Copy::Copy(const Config& config, const TaskFacts& facts)
    : DrawnTask(config.drawn, facts, Asks::sequence, numbered_symbols(config.symbols)), config_(config) {}

Example Copy::example(KeyedSequence& draw, int64_t size) const {
  const auto row = draw_row(draw, size, config_.symbols);
  return {.given = row, .asked = row};
}

}  // namespace ordo
