// SPDX-License-Identifier: Apache-2.0
// Text <-> token ids.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/config/catalog.h"
#include "ordo/core/errors.h"
#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "ordo/tokenizers/encoded.h"

namespace ordo {

// What a tokenizer is made from: a saved one (a checkpoint's tokenizer/ folder), or else its settings and, for some,
// the training text (char and word learn from it what there is).
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
  // With the special tokens that this tokenizer puts around a text, or around a pair of texts; those without such: the
  // texts alone.
  virtual Encoded encode_special(std::string_view text, std::optional<std::string_view> pair = {}) const;
  virtual std::string decode(std::span<const int64_t> ids) const = 0;
  virtual std::string piece(
      int64_t id) const = 0;                  // one token's bytes: streaming joins them until they are whole UTF-8
  virtual bool is_special(int64_t id) const;  // it stands for no text: </s>, [PAD], <unk>
  // The id of a token as the vocabulary writes it: "</s>", "[MASK]".
  virtual std::optional<int64_t> find(std::string_view token) const;
  virtual void save(const fs::path& folder) const = 0;
  virtual uint64_t fingerprint() const = 0;  // of the vocabulary: a resume with another one is refused
  // encode(a + b) = encode(a) + encode(b) for whole characters: a long text may be encoded in pieces.
  virtual bool piecewise() const { return false; }
};

// The file of a saved tokenizer, <folder>/vocabulary.json: {"format": 1, "kind": …} and what the kind adds. Reading
// throws DataError when it is missing, broken, of a newer format or of another kind.
void write_vocabulary(const fs::path& folder, std::string_view kind, Json content);
Json read_vocabulary(const fs::path& folder, std::string_view kind);
std::string saved_kind(const fs::path& folder);

// A tokenizer by a path: a tokenizer.json, a SentencePiece model, a vocabulary of words (.txt), or a folder with a
// saved tokenizer, a tokenizer.json or a tokenizer.model in it. Throws DataError when it is none of these.
std::shared_ptr<const Tokenizer> open_tokenizer(const fs::path& path);

using TokenizerCatalog = Catalog<Tokenizer, TokenizerFacts>;
const TokenizerCatalog& tokenizers();  // byte, char, word, sentencepiece, hf
template <>
const Kinds& kinds_of<Tokenizer>();

}  // namespace ordo
