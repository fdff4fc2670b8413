// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/unknown_words.h"

#include <fmt/format.h>

namespace ordo {

std::optional<int64_t> unknown_id(const Tokenizer& tokenizer) {
  for (const char* name : {"<unk>", "[UNK]"})
    if (const auto id = tokenizer.find(name)) return id;
  return std::nullopt;
}

std::string unknown_share(int64_t unknown, int64_t tokens) {
  if (unknown == 0) return {};
  const double percent = 100.0 * static_cast<double>(unknown) / static_cast<double>(tokens);
  return fmt::format("; {} % of the tokens stand for unknown words",
                     percent < 0.05 ? "less than 0.1" : fmt::format("{:.1f}", percent));
}

}  // namespace ordo
