// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/sort.h"

#include <algorithm>

#include "ordo/tasks/rows.h"

namespace ordo {

void fields(Fields& f, Sort::Config& c) {
  f("symbols", c.symbols, "different symbols a row is drawn from", within(2, kMostSymbols));
  drawn_fields(f, c.drawn, Asks::sequence);
}

Sort::Sort(const Config& config, const TaskFacts& facts)
    : DrawnTask(config.drawn, facts, Asks::sequence, numbered_symbols(config.symbols)), config_(config) {}

Example Sort::example(KeyedSequence& draw, int64_t size) const {
  const auto given = draw_row(draw, size, config_.symbols);
  auto asked = given;
  std::sort(asked.begin(), asked.end());
  return {given, std::move(asked)};
}

}  // namespace ordo
