// SPDX-License-Identifier: Apache-2.0
// Text <-> token ids.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/config/catalog.h"
#include "ordo/core/errors.h"
#include "ordo/core/files.h"
#include "ordo/core/json.h"

namespace ordo {

// What a tokenizer is made from: a saved one (a checkpoint's tokenizer/ folder), or else the training text (char learns
// its alphabet from it).
struct TokenizerFacts {
  fs::path saved = {};                     // non-empty: load from here
  std::function<std::string()> text = {};  // the training text; asked for only when needed
};

// A character that the vocabulary lacks; `offset` (bytes) lets a corpus say file and line.
struct UnknownCharacter : DataError {
  UnknownCharacter(std::string_view text, size_t offset, int64_t vocab_size);
  size_t offset;
  std::string what_is_there;  // "'é' (U+00E9)"
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual std::string_view kind() const = 0;
  virtual int64_t vocab_size() const = 0;
  // Throws UnknownCharacter (a DataError) that names the first character it does not know, its line and column.
  virtual std::vector<int64_t> encode(std::string_view text) const = 0;
  virtual std::string decode(std::span<const int64_t> ids) const = 0;
  virtual std::string piece(
      int64_t id) const = 0;  // one token's bytes: streaming joins them until they are whole UTF-8
  virtual void save(const fs::path& folder) const = 0;
  virtual uint64_t fingerprint() const = 0;  // of the vocabulary: a resume with another one is refused
  // encode(a + b) = encode(a) + encode(b) for whole characters: a long text may be encoded in pieces.
  virtual bool piecewise() const { return false; }
};

// The file of a saved tokenizer, <folder>/vocabulary.json: {"format": 1, "kind": …} and what the kind adds. Reading
// throws DataError when it is missing, broken, of a newer format or of another kind.
void write_vocabulary(const fs::path& folder, std::string_view kind, Json content);
Json read_vocabulary(const fs::path& folder, std::string_view kind);

using TokenizerCatalog = Catalog<Tokenizer, TokenizerFacts>;
const TokenizerCatalog& tokenizers();  // byte, char
template <>
const Kinds& kinds_of<Tokenizer>();

}  // namespace ordo
