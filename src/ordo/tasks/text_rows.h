// SPDX-License-Identifier: Apache-2.0
// Texts, and pairs of texts, as rows of ids: with the marks that the tokenizer puts around them, cut to a length, and
// side by side in a batch.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/data/batch.h"
#include "ordo/data/tokenizer.h"

namespace ordo {

// A row is: marks in front, a text, marks (between the texts of a pair, or behind the only one), a text, marks.
struct TextRow {
  std::vector<int64_t> ids, types;  // types: as of Encoded
  int64_t front = 0, first = 0, middle = 0, second = 0;
  int64_t size() const { return static_cast<int64_t>(ids.size()); }
  int64_t marks() const { return size() - first - second; }
};

// The rows of a task, all of one text or all of a pair each.
class TextRows {
 public:
  // The tokenizer must outlive it. A tokenizer that puts nothing around a pair gets a mark of our own between the two:
  // one id behind its own.
  TextRows(const Tokenizer& tokenizer, bool pairs);
  int64_t vocab_size() const;
  // Throws DataError for a text without a token, and what the tokenizer throws: UnknownCharacter of a character that
  // it lacks.
  TextRow row(std::string_view text, std::optional<std::string_view> pair = {}) const;

 private:
  const Tokenizer& tokenizer_;
  bool joined_;  // by a mark of our own
};

// Throws what `call` refuses again, with the place of the text that it reads.
[[noreturn]] void refuse_text(const std::string& where, const Tokenizer& tokenizer, const DataError& why);
template <class Call>
auto at_place(const std::string& where, const Tokenizer& tokenizer, const Call& call) {
  try {
    return call();
  } catch (const DataError& why) {
    refuse_text(where, tokenizer, why);
  }
}

// Of at most `length` ids, at least as many as its marks and a token of each text: the ends of the texts are cut, that
// of the longer one first.
TextRow cut(const TextRow& row, int64_t length);

// ids [B, the longest], positions, and where rows are unequal keys [B, L]; `types` too if asked for. Padding stands
// behind a row: id 0, which no real token sees.
Batch side_by_side(std::span<const TextRow> rows, bool types);

}  // namespace ordo
