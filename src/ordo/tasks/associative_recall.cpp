// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/associative_recall.h"

#include "ordo/tasks/rows.h"

namespace ordo {

void fields(Fields& f, AssociativeRecall::Config& c) {
  f("keys", c.keys, "different keys; a row has as many pairs at the most", within(1, kMostSymbols));
  f("values", c.values, "different values", within(2, kMostSymbols));
  sequence_fields(f, c.examples, Asks::label);
}

AssociativeRecall::AssociativeRecall(const Config& config, const TaskFacts& facts)
    : SequenceTask(config.examples, facts, Asks::label, joined(numbered_symbols(config.values), letters(config.keys))),
      config_(config) {}

int64_t AssociativeRecall::given_length(int64_t size) const {
  require<ConfigError>(size <= config_.keys,
                       "associative_recall: {} pairs need as many different keys, and task.keys is {}; raise it, or "
                       "lower the lengths trained on and evaluated",
                       size, config_.keys);
  return 2 * size + 1;
}

Example AssociativeRecall::example(KeyedSequence& draw, int64_t size) const {
  Example row;
  row.given.reserve(static_cast<size_t>(given_length(size)));
  const auto keys = draw_distinct(draw, size, config_.keys), values = draw_row(draw, size, config_.values);
  const auto sought = draw.below(static_cast<uint64_t>(size));
  for (size_t i = 0; i < keys.size(); ++i) {
    row.given.push_back(config_.values + keys[i]);
    row.given.push_back(values[i]);
  }
  row.given.push_back(config_.values + keys[sought]);
  row.asked = {values[sought]};
  return row;
}

}  // namespace ordo
