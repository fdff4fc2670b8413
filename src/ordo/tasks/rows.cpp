// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "ordo/core/errors.h"

namespace ordo {

std::vector<std::string> numbered_symbols(int64_t count) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

std::vector<std::string> letters(int64_t count) {
  constexpr int64_t kAlphabet = 26;
  std::vector<std::string> names;
  for (int64_t i = 0; i < count; ++i) {
    std::string name;
    for (int64_t rest = i + 1; rest > 0; rest = (rest - 1) / kAlphabet)
      name.insert(name.begin(), static_cast<char>('a' + (rest - 1) % kAlphabet));
    names.push_back(name);
  }
  return names;
}

std::vector<std::string> joined(std::vector<std::string> names, const std::vector<std::string>& more) {
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

std::vector<int64_t> draw_row(KeyedSequence& draw, int64_t length, int64_t symbols) {
  std::vector<int64_t> row(static_cast<size_t>(length));
  for (int64_t& symbol : row) symbol = static_cast<int64_t>(draw.below(static_cast<uint64_t>(symbols)));
  return row;
}

std::vector<int64_t> draw_distinct(KeyedSequence& draw, int64_t count, int64_t limit) {
  ORDO_ASSERT(count <= limit);
  std::vector<int64_t> all(static_cast<size_t>(limit));
  std::iota(all.begin(), all.end(), 0);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i)
    std::swap(all[i], all[i + draw.below(static_cast<uint64_t>(limit) - i)]);
  all.resize(static_cast<size_t>(count));
  return all;
}

}  // namespace ordo
