// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/parity.h"

#include <numeric>

#include "ordo/tasks/rows.h"

namespace ordo {

void fields(Fields& f, Parity::Config& c) { drawn_fields(f, c.drawn, Asks::label); }

Parity::Parity(const Config& config, const TaskFacts& facts)
    : DrawnTask(config.drawn, facts, Asks::label, numbered_symbols(2)) {}

Example Parity::example(KeyedSequence& draw, int64_t size) const {
  auto given = draw_row(draw, size, 2);
  const int64_t ones = std::accumulate(given.begin(), given.end(), int64_t{0});
  return {std::move(given), {ones % 2}};
}

}  // namespace ordo
