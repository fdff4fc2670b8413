// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/needle.h"

#include <algorithm>

#include "ordo/tasks/rows.h"

namespace ordo {

void fields(Fields& f, Needle::Config& c) {
  f("symbols", c.symbols, "different symbols of the filler, which the values are too", within(2, kMostSymbols));
  f("needles", c.needles, "keys with a value, one of which is asked for", within(1, kMostSymbols));
  drawn_fields(f, c.drawn, Asks::label);
}

Needle::Needle(const Config& config, const TaskFacts& facts)
    : DrawnTask(config.drawn, facts, Asks::label, joined(numbered_symbols(config.symbols), letters(config.needles))),
      config_(config) {}

Example Needle::example(KeyedSequence& draw, int64_t size) const {
  auto given = draw_row(draw, size, config_.symbols);
  // With each needle as one piece, any choice of pieces is equally likely and none overlaps another.
  const auto pieces = draw_distinct(draw, config_.needles, size - config_.needles);
  auto places = pieces;
  std::sort(places.begin(), places.end());
  const auto place_of = [&](size_t needle) {
    const auto before = std::lower_bound(places.begin(), places.end(), pieces[needle]) - places.begin();
    return static_cast<size_t>(pieces[needle] + before);
  };
  for (size_t i = 0; i < pieces.size(); ++i) given[place_of(i)] = config_.symbols + static_cast<int64_t>(i);
  const auto sought = draw.below(static_cast<uint64_t>(config_.needles));
  const int64_t value = given[place_of(sought) + 1];
  given.push_back(config_.symbols + static_cast<int64_t>(sought));
  return {std::move(given), {value}};
}

}  // namespace ordo
