// SPDX-License-Identifier: Apache-2.0
// The token ids of a corpus: narrow, in memory or mapped from a file, cut into documents.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ordo/core/files.h"

namespace ordo {

// What the ids of a token file without a header are.
enum class TokenType { uint16, uint32 };

// The ids of one file.
class TokenStore {
 public:
  // Ids as they come from a tokenizer; 16 bits each where the vocabulary allows it.
  static std::shared_ptr<const TokenStore> of(std::string name, const std::vector<int64_t>& ids, int64_t vocab_size);
  // A mapped token file: ids alone, of type `raw` (nanoGPT's are uint16), or with llm.c's header of 256 int32 (magic
  // 20240520, version 1: uint16; 20240801, version 7: uint32), found by its magic number. Throws DataError: missing,
  // empty, a size that does not fit, an id >= vocab_size (with its place). The file must not be cut short while it is
  // in use.
  static std::shared_ptr<const TokenStore> map(const fs::path& path, TokenType raw, int64_t vocab_size);

  // Ids made by a TokenBuilder: in one of the two, the other empty.
  static std::shared_ptr<const TokenStore> take(std::string name, std::vector<uint16_t> narrow,
                                                std::vector<uint32_t> wide);

  const std::string& name() const { return name_; }
  int64_t size() const { return static_cast<int64_t>(wide_.empty() ? narrow_.size() : wide_.size()); }
  void read(int64_t from, std::span<int64_t> into) const;  // ids [from, from + into.size())
  uint64_t fingerprint(int64_t from, int64_t to) const;

 private:
  std::string name_;
  std::shared_ptr<const void> owner_;  // of the bytes that one of these shows
  std::span<const uint16_t> narrow_;
  std::span<const uint32_t> wide_;
};

// Ids that are added piece by piece, kept as narrow as the vocabulary allows.
class TokenBuilder {
 public:
  TokenBuilder(std::string name, int64_t vocab_size);
  void add(std::span<const int64_t> ids);
  int64_t size() const;
  std::shared_ptr<const TokenStore> finish();

 private:
  std::string name_;
  bool is_narrow_;
  std::vector<uint16_t> narrow_;
  std::vector<uint32_t> wide_;
};

// Documents one after another, addressed as one long sequence.
class TokenSequence {
 public:
  void add(std::shared_ptr<const TokenStore> store, int64_t from, int64_t to);  // one document; empty ones are left out
  void add(const TokenSequence& more);                                          // its documents behind these
  int64_t size() const { return begins_.back(); }
  int64_t documents() const { return static_cast<int64_t>(documents_.size()); }
  // Ids [from, from + ids.size()), and for each the number of its document.
  void read(int64_t from, std::span<int64_t> ids, std::span<int64_t> documents) const;
  // Where each document begins, and the end of the last one.
  const std::vector<int64_t>& borders() const { return begins_; }
  std::string place(int64_t token) const;  // "input.txt, offset 512": in tokens from the start of the file
  // [0, at) and [at, size); a document that is cut becomes two.
  std::pair<TokenSequence, TokenSequence> cut(int64_t at) const;
  uint64_t fingerprint() const;  // of ids and borders

 private:
  struct Document {
    std::shared_ptr<const TokenStore> store;
    int64_t from = 0, to = 0;
  };
  size_t document_at(int64_t token) const;
  std::vector<Document> documents_;
  std::vector<int64_t> begins_ = {0};  // of each document in the sequence, and the end
};

// Writes a token file with llm.c's header, its ids as narrow as the vocabulary allows; written beside, flushed to disk,
// renamed. Throws DataError for more ids than that header can count (2^31 - 1).
void write_ids(const fs::path& path, const TokenSequence& tokens, int64_t vocab_size);

}  // namespace ordo
