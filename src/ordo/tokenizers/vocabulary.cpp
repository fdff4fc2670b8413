// SPDX-License-Identifier: Apache-2.0
#include "ordo/tokenizers/vocabulary.h"

#include <charconv>

#include "ordo/core/errors.h"

namespace ordo {

void require_vocab_size(int64_t size, int64_t least) {
  require<ConfigError>(size >= least && size < kMostTokens,
                       "a vocabulary of {} is too small or too large: with these settings it has at least {}, and "
                       "fewer than {}",
                       size, least, kMostTokens);
}

bool Vocabulary::add(std::string token, int64_t id) {
  ORDO_ASSERT(id >= 0 && id < kMostTokens);
  const auto place = static_cast<size_t>(id);
  if (place < tokens_.size() && tokens_[place]) return false;
  if (!ids_.emplace(token, id).second) return false;
  if (place >= tokens_.size()) tokens_.resize(place + 1);
  tokens_[place] = std::move(token);
  return true;
}

std::optional<int64_t> Vocabulary::find(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

const std::string* Vocabulary::token(int64_t id) const {
  if (id < 0 || id >= size() || !tokens_[static_cast<size_t>(id)]) return nullptr;
  return &*tokens_[static_cast<size_t>(id)];
}

std::string byte_token(unsigned char byte) { return fmt::format("<0x{:02X}>", byte); }

std::optional<char> byte_of(std::string_view token) {
  constexpr size_t kForm = 6;
  if (token.size() != kForm || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
  unsigned byte = 0;
  const auto [end, problem] = std::from_chars(token.data() + 3, token.data() + 5, byte, 16);
  if (problem != std::errc() || end != token.data() + 5) return std::nullopt;
  return static_cast<char>(byte);
}

ByteFallback::ByteFallback(const Vocabulary& vocabulary) {
  for (size_t byte = 0; byte < ids_.size(); ++byte)
    ids_[byte] = vocabulary.find(byte_token(static_cast<unsigned char>(byte))).value_or(kNone);
}

void ByteTree::add(std::string_view text, int64_t value) {
  ORDO_ASSERT(value >= 0);
  int64_t node = kNone;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    int64_t& next = i == 0 ? roots_[byte] : children_.try_emplace(key(node, byte), kNone).first->second;
    if (next == kNone) {
      next = static_cast<int64_t>(values_.size());
      values_.push_back(kNone);
    }
    node = next;
  }
  if (node != kNone && values_[static_cast<size_t>(node)] == kNone) values_[static_cast<size_t>(node)] = value;
}

}  // namespace ordo
