// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/modular_sum.h"

#include <numeric>

#include "ordo/tasks/rows.h"

namespace ordo {

void fields(Fields& f, ModularSum::Config& c) {
  f("modulus", c.modulus, "numbers are 0 to modulus - 1", within(2, kMostSymbols));
  drawn_fields(f, c.drawn, Asks::label);
}

ModularSum::ModularSum(const Config& config, const TaskFacts& facts)
    : DrawnTask(config.drawn, facts, Asks::label, numbered_symbols(config.modulus)), config_(config) {}

Example ModularSum::example(KeyedSequence& draw, int64_t size) const {
  auto given = draw_row(draw, size, config_.modulus);
  const int64_t sum = std::accumulate(given.begin(), given.end(), int64_t{0});
  return {std::move(given), {sum % config_.modulus}};
}

}  // namespace ordo
