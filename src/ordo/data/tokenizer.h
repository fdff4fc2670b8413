// SPDX-License-Identifier: Apache-2.0
// Text <-> token ids.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/config/catalog.h"
#include "ordo/core/files.h"

namespace ordo {

// What a tokenizer is made from: a saved one (a checkpoint's tokenizer/ folder), or else the training text (char learns its alphabet from it).
struct TokenizerFacts {
  fs::path saved = {};                               // non-empty: load from here
  std::function<std::string()> text = {};            // the training text; asked for only when needed
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual int64_t vocab_size() const = 0;
  // Throws DataError that names the first character it does not know and its offset.
  virtual std::vector<int64_t> encode(std::string_view text) const = 0;
  virtual std::string decode(std::span<const int64_t> ids) const = 0;
  virtual std::string piece(int64_t id) const = 0;   // one token's bytes: streaming joins them until they are whole UTF-8
  virtual void save(const fs::path& folder) const = 0;
  virtual uint64_t fingerprint() const = 0;          // of the vocabulary: a resume with another one is refused
};

using TokenizerCatalog = Catalog<Tokenizer, TokenizerFacts>;
const TokenizerCatalog& tokenizers();                // byte, char
template <>
const Kinds& kinds_of<Tokenizer>();

}  // namespace ordo
