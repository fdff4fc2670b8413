// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/scan.h"

#include "ordo/core/errors.h"

namespace ordo {

void fields(Fields& f, Scan::Config& c) { fields(f, c.files); }

std::vector<WordPair> Scan::read(const fs::path& path) const {
  constexpr std::string_view kIn = "IN: ", kOut = " OUT: ";
  std::vector<WordPair> pairs;
  for (const auto& line : read_lines(path)) {
    const size_t number = pairs.size() + 1, out = line.find(kOut);
    require<DataError>(line.starts_with(kIn) && out != line.npos,
                       "{}: line {}: expected \"IN: command OUT: actions\", found \"{}\"", path.string(), number, line);
    const std::string_view text = line;
    pairs.push_back(word_pair(text.substr(kIn.size(), out - kIn.size()), text.substr(out + kOut.size()), path, number));
  }
  return pairs;
}

}  // namespace ordo
