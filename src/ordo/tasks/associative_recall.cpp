// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/associative_recall.h"

#include <algorithm>

#include "ordo/ops/fused_loss.h"
#include "ordo/tasks/rows.h"

namespace ordo {

void fields(Fields& f, AssociativeRecall::Config& c) {
  f("keys", c.keys, "different keys; a row has as many pairs at the most", within(1, kMostSymbols));
  f("values", c.values, "different values", within(2, kMostSymbols));
  f("queries", c.queries, "keys asked for behind the pairs, all different; 0: every key of the row", at_least(0));
  drawn_fields(f, c.drawn, Asks::each);
}

AssociativeRecall::AssociativeRecall(const Config& config, const TaskFacts& facts)
    : DrawnTask(config.drawn, facts, Asks::each, joined(numbered_symbols(config.values), letters(config.keys))),
      config_(config) {
  require<ConfigError>(config.queries <= config.keys, "task.queries ({}) are of different keys, and task.keys is {}",
                       config.queries, config.keys);
}

int64_t AssociativeRecall::least_size() const { return std::max<int64_t>(1, config_.queries); }

int64_t AssociativeRecall::given_length(int64_t size) const {
  require<ConfigError>(size <= config_.keys,
                       "associative_recall: {} pairs need as many different keys, and task.keys is {}; raise it, or "
                       "lower the lengths trained on and evaluated",
                       size, config_.keys);
  return 2 * size + (config_.queries == 0 ? size : config_.queries);
}

Example AssociativeRecall::example(KeyedSequence& draw, int64_t size) const {
  const int64_t queries = given_length(size) - 2 * size;
  const auto keys = draw_distinct(draw, size, config_.keys), values = draw_row(draw, size, config_.values);
  Example row;
  for (size_t i = 0; i < keys.size(); ++i) {
    row.given.push_back(config_.values + keys[i]);
    row.given.push_back(values[i]);
  }
  row.asked.assign(row.given.size(), kIgnore);
  for (const int64_t pair : draw_distinct(draw, queries, size)) {
    row.given.push_back(config_.values + keys[static_cast<size_t>(pair)]);
    row.asked.push_back(values[static_cast<size_t>(pair)]);
  }
  return row;
}

}  // namespace ordo
