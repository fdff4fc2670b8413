// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/selective_copy.h"

#include <algorithm>

#include "ordo/tasks/rows.h"

namespace ordo {

void fields(Fields& f, SelectiveCopy::Config& c) {
  f("symbols", c.symbols, "different symbols, the blank apart", within(2, kMostSymbols));
  f("copied", c.copied, "symbols among the blanks, and of the answer", at_least(1));
  drawn_fields(f, c.drawn, Asks::sequence);
}

SelectiveCopy::SelectiveCopy(const Config& config, const TaskFacts& facts)
    : DrawnTask(config.drawn, facts, Asks::sequence, joined(numbered_symbols(config.symbols), {"."})),
      config_(config) {}

Example SelectiveCopy::example(KeyedSequence& draw, int64_t size) const {
  auto asked = draw_row(draw, config_.copied, config_.symbols);
  auto places = draw_distinct(draw, config_.copied, size);
  std::sort(places.begin(), places.end());
  const int64_t blank = config_.symbols;
  std::vector<int64_t> given(static_cast<size_t>(size), blank);
  for (size_t i = 0; i < places.size(); ++i) given[static_cast<size_t>(places[i])] = asked[i];
  return {std::move(given), std::move(asked)};
}

}  // namespace ordo
