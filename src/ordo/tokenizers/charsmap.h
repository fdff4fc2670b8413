// SPDX-License-Identifier: Apache-2.0
// The table of replacements that SentencePiece models carry ("precompiled_charsmap"): little-endian, the size of a
// double-array trie in bytes, the trie in units of 32 bits (Darts-clone's form), then replacements that end in NUL.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ordo {

class Charsmap {
 public:
  // Throws DataError, in words without a place, when sizes do not fit or a look-up could leave the tables.
  explicit Charsmap(std::string_view bytes);
  // What replaces the shortest beginning of `text` that the table has.
  std::optional<std::string_view> shortest(std::string_view text) const;
  // A text as the `Precompiled` normaliser of tokenizer.json files gives it: by graphemes of less than six bytes, whose
  // shortest known beginning decides for the whole, else by characters.
  std::string replaced(std::string_view text) const;

 private:
  uint32_t offset(uint32_t unit) const { return (unit >> 10U) << ((unit & (1U << 9U)) >> 6U); }
  void require_sound() const;
  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace ordo
