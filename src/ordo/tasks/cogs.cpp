// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/cogs.h"

#include "ordo/core/errors.h"
#include "ordo/core/text.h"

namespace ordo {

void fields(Fields& f, Cogs::Config& c) { fields(f, c.files); }

std::vector<WordPair> Cogs::read(const fs::path& path) const {
  std::vector<WordPair> pairs;
  for (const auto& line : read_lines(path)) {
    const size_t number = pairs.size() + 1;
    const auto columns = split(line, '\t');
    require<DataError>(columns.size() == 2 || columns.size() == 3,
                       "{}: line {}: expected a sentence, a tab and its logical form (and perhaps a tab and a kind), "
                       "found {} column(s): \"{}\"",
                       path.string(), number, columns.size(), line);
    pairs.push_back(word_pair(columns[0], columns[1], path, number));
  }
  return pairs;
}

}  // namespace ordo
