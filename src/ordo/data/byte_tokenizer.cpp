// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/byte_tokenizer.h"

#include <nlohmann/json.hpp>

#include "ordo/core/hash.h"

namespace ordo {

ByteTokenizer::ByteTokenizer(const Config&, const TokenizerFacts& facts) {
  if (!facts.saved.empty()) read_vocabulary(facts.saved, kKind);
}

std::vector<int64_t> ByteTokenizer::encode(std::string_view text) const {
  std::vector<int64_t> ids(text.size());
  for (size_t i = 0; i < text.size(); ++i) ids[i] = static_cast<unsigned char>(text[i]);
  return ids;
}

std::string ByteTokenizer::decode(std::span<const int64_t> ids) const {
  std::string text;
  text.reserve(ids.size());
  for (const int64_t id : ids) text += piece(id);
  return text;
}

std::string ByteTokenizer::piece(int64_t id) const {
  require<DataError>(id >= 0 && id < vocab_size(),
                     "token id {} is not in the vocabulary of the byte tokenizer (0 … 255)", id);
  return std::string(1, static_cast<char>(id));
}

void ByteTokenizer::save(const fs::path& folder) const { write_vocabulary(folder, kKind, Json::object()); }

uint64_t ByteTokenizer::fingerprint() const { return key_of(0, kKind); }

void fields(Fields&, ByteTokenizer::Config&) {}

}  // namespace ordo
