// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/pair_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "ordo/core/errors.h"
#include "ordo/core/hash.h"
#include "ordo/core/text.h"

namespace ordo {

std::optional<int64_t> PairWriter::token(std::string_view word) const {
  const auto& symbols = files_->symbols;
  const auto found = std::find(symbols.begin(), symbols.end(), word);
  return found == symbols.end() ? std::nullopt : std::optional<int64_t>(found - symbols.begin());
}

std::vector<int64_t> PairWriter::answer(std::string_view text) const {
  std::vector<int64_t> ids;
  for (const auto& word : blank_apart(text)) {
    const auto id = token(word);
    const std::string near = id ? "" : nearest(word, files_->symbols);
    require<DataError>(id && *id < files_->unknown(), "'{}' is no word of the training pairs{}", word,
                       near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
    ids.push_back(*id);
  }
  return ids;
}

Prompt PairWriter::prompt(std::string_view text) const {
  std::vector<int64_t> ids = answer(text);  // one vocabulary for both
  require<DataError>(!ids.empty(), "a prompt of blanks alone has no word to answer");
  return layout_(std::move(ids));
}

std::string PairWriter::piece(int64_t id, bool first) const {
  return (first ? "" : " ") + files_->symbols.at(static_cast<size_t>(id));
}

std::string PairWriter::text(std::span<const int64_t> ids) const {
  std::string words;
  for (const int64_t id : ids) words += piece(id, words.empty());
  return words;
}

uint64_t PairWriter::fingerprint() const { return key_of(0, join(files_->symbols, " ")); }

}  // namespace ordo
