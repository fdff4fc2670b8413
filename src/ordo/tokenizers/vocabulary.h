// SPDX-License-Identifier: Apache-2.0
// Tokens by id and ids by token; and a tree of them for longest matches.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ordo {

inline constexpr int64_t kMostTokens = int64_t{1} << 22;  // ids of a vocabulary are below it

// Throws ConfigError when a vocabulary of this size, to be trained, has no room for the `least` tokens that it must
// have, or more than there may be.
void require_vocab_size(int64_t size, int64_t least);

class Vocabulary {
 public:
  // False when the token or the id is taken; 0 <= id < kMostTokens.
  bool add(std::string token, int64_t id);
  std::optional<int64_t> find(std::string_view token) const;
  const std::string* token(int64_t id) const;                            // null: no token has this id
  int64_t size() const { return static_cast<int64_t>(tokens_.size()); }  // the largest id and one

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::vector<std::optional<std::string>> tokens_;
  std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> ids_;
};

// "<0x0A>", how byte fallback writes a byte; and the byte of such a token.
std::string byte_token(unsigned char byte);
std::optional<char> byte_of(std::string_view token);

// The tokens of bytes that a vocabulary has; by default none.
class ByteFallback {
 public:
  ByteFallback() { ids_.fill(kNone); }
  explicit ByteFallback(const Vocabulary& vocabulary);
  // Calls put(id) for each byte of a text, or, false, for none when one of them has no token.
  template <class Put>
  bool put_bytes(std::string_view text, const Put& put) const {
    const auto id = [&](char byte) { return ids_[static_cast<unsigned char>(byte)]; };
    if (std::any_of(text.begin(), text.end(), [&](char byte) { return id(byte) == kNone; })) return false;
    for (const char byte : text) put(id(byte));
    return true;
  }

 private:
  static constexpr int64_t kNone = -1;
  std::array<int64_t, 256> ids_;
};

// Texts with a number each, found by their first bytes.
class ByteTree {
 public:
  ByteTree() { roots_.fill(kNone); }
  void add(std::string_view text, int64_t value);  // of equal texts the first stays
  // Calls visit(end, value) for every text that stands at `from`, the shortest first.
  template <class Visit>
  void prefixes(std::string_view text, size_t from, const Visit& visit) const {
    int64_t node = kNone;
    for (size_t i = from; i < text.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      node = i == from ? roots_[byte] : child(node, byte);
      if (node == kNone) return;
      if (values_[static_cast<size_t>(node)] != kNone) visit(i + 1, values_[static_cast<size_t>(node)]);
    }
  }
  bool empty() const { return values_.empty(); }

 private:
  static constexpr int64_t kNone = -1;
  static uint64_t key(int64_t node, unsigned char byte) { return (static_cast<uint64_t>(node) << 8) | byte; }
  int64_t child(int64_t node, unsigned char byte) const {
    const auto found = children_.find(key(node, byte));
    return found == children_.end() ? kNone : found->second;
  }
  std::array<int64_t, 256> roots_;
  std::unordered_map<uint64_t, int64_t> children_;
  std::vector<int64_t> values_;  // by node
};

}  // namespace ordo
