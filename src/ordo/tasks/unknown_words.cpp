// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/unknown_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "ordo/core/log.h"

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

void warn_of_unknown(const Tokenizer& tokenizer, std::span<const int64_t> ids, const std::string& where) {
  const auto unknown = unknown_id(tokenizer);
  const auto count = unknown ? std::count(ids.begin(), ids.end(), *unknown) : 0;
  if (count == 0) return;
  log::warn("{}: {} of {} tokens {} for words that the vocabulary has not", where, count, ids.size(),
            count == 1 ? "stands" : "stand");
}

}  // namespace ordo
