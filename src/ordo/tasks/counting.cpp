// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/counting.h"

#include <algorithm>

#include "ordo/tasks/rows.h"

namespace ordo {

namespace {

enum class CounterOperation { pass, increment, reset };
constexpr int64_t kCounterOperations = 3;

std::vector<std::string> counting_symbols(const Counting::Config& config) {
  std::vector<std::string> names = numbered_symbols(config.cap + 1);
  for (const auto& variable : letters(config.variables))
    for (const std::string_view operation : {"pass", "inc", "zero"})  // in the order of CounterOperation
      names.push_back(fmt::format("{}_{}", operation, variable));
  return names;
}

CounterOperation draw_operation(KeyedSequence& draw, const Counting::Config& config) {
  const double u = draw.unit();
  if (u < config.reset) return CounterOperation::reset;
  return u < config.reset + config.increment ? CounterOperation::increment : CounterOperation::pass;
}

}  // namespace

void fields(Fields& f, Counting::Config& c) {
  f("variables", c.variables, "counters; the paper has 1, 3 and 5", within(1, kMostSymbols));
  f("cap", c.cap, "highest value: a counter that has come so far stays there", within(1, kMostSymbols));
  f("increment", c.increment, "share of the operations that add one", within(0.0, 1.0));
  f("reset", c.reset, "share of the operations that set a counter to zero; the rest are passes", within(0.0, 1.0));
  drawn_fields(f, c.drawn, Asks::each);
}

Counting::Counting(const Config& config, const TaskFacts& facts)
    : DrawnTask(config.drawn, facts, Asks::each, counting_symbols(config)), config_(config) {
  require<ConfigError>(config.increment + config.reset <= 1.0,
                       "task.increment ({}) and task.reset ({}) are shares of the operations: together at most 1",
                       config.increment, config.reset);
}

Example Counting::example(KeyedSequence& draw, int64_t size) const {
  Example row;
  std::vector<int64_t> values(static_cast<size_t>(config_.variables), 0);
  for (int64_t i = 0; i < size; ++i) {
    const auto variable = static_cast<int64_t>(draw.below(static_cast<uint64_t>(config_.variables)));
    const CounterOperation operation = draw_operation(draw, config_);
    int64_t& value = values[static_cast<size_t>(variable)];
    if (operation == CounterOperation::increment) value = std::min(value + 1, config_.cap);
    if (operation == CounterOperation::reset) value = 0;
    row.given.push_back(config_.cap + 1 + kCounterOperations * variable + static_cast<int64_t>(operation));
    row.asked.push_back(value);
  }
  return row;
}

}  // namespace ordo
