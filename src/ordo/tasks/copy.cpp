// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/copy.h"

namespace ordo {

void fields(Fields& f, CopyTask::Config& c) {
  f("symbols", c.symbols, "different symbols", within(2, 10'000));
  sequence_fields(f, c.examples, Asks::sequence);
}

CopyTask::CopyTask(const Config& config, const TaskFacts& facts)
    : SequenceTask(config.examples, facts, Asks::sequence, numbered_symbols(config.symbols)) {}

Example CopyTask::example(KeyedSequence& draw, int64_t size) const {
  Example made;
  for (int64_t i = 0; i < size; ++i) made.given.push_back(static_cast<int64_t>(draw.below(symbols().size())));
  made.asked = made.given;
  return made;
}

}  // namespace ordo
