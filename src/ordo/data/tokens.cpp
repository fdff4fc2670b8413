// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/tokens.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "ordo/core/errors.h"
#include "ordo/core/hash.h"

namespace ordo {

namespace {

static_assert(std::endian::native == std::endian::little, "token files are little-endian and are read as they are");

// llm.c's header: 256 int32, of which the first three are magic, version and the number of ids.
struct TokenHeader {
  std::array<int32_t, 256> words{};
};
struct HeaderKind {
  int32_t magic, version;
  TokenType type;
};
constexpr std::array<HeaderKind, 2> kHeaderKinds{{{20240520, 1, TokenType::uint16}, {20240801, 7, TokenType::uint32}}};
constexpr uint64_t kNarrowVocabulary = uint64_t{1} << 16;

size_t width_of(TokenType type) { return type == TokenType::uint16 ? sizeof(uint16_t) : sizeof(uint32_t); }

struct TokenLayout {
  TokenType type;
  size_t header = 0;  // bytes before the ids
};

TokenLayout layout_of(const MappedFile& file, TokenType raw) {
  TokenHeader header;
  if (file.size() < sizeof(header)) return {.type = raw};
  std::memcpy(&header, file.data(), sizeof(header));
  for (const auto& kind : kHeaderKinds) {
    if (header.words[0] != kind.magic) continue;
    require<DataError>(header.words[1] == kind.version, "{} has a token header of version {}, version {} is expected",
                       file.path().string(), header.words[1], kind.version);
    const auto found = (file.size() - sizeof(header)) / width_of(kind.type);
    require<DataError>(header.words[2] >= 0 && static_cast<size_t>(header.words[2]) == found,
                       "{}: the header promises {} tokens, the file holds {}; it is damaged or cut off",
                       file.path().string(), header.words[2], found);
    return {.type = kind.type, .header = sizeof(header)};
  }
  return {.type = raw};
}

template <class T>
std::span<const T> ids_in(const MappedFile& file, const TokenLayout& layout) {
  const size_t bytes = file.size() - layout.header;
  require<DataError>(
      bytes % sizeof(T) == 0,
      "{} holds {} bytes of ids, which is no multiple of {} (uint{}); is it a token file of another type?",
      file.path().string(), bytes, sizeof(T), 8 * sizeof(T));
  require<DataError>(bytes > 0, "{} holds no token", file.path().string());
  return {reinterpret_cast<const T*>(file.data() + layout.header), bytes / sizeof(T)};
}

template <class T>
void require_known(std::span<const T> ids, int64_t vocab_size, const std::string& name) {
  if (static_cast<uint64_t>(vocab_size) > std::numeric_limits<T>::max()) return;
  const auto bad =
      std::find_if(ids.begin(), ids.end(), [limit = static_cast<T>(vocab_size)](T id) { return id >= limit; });
  require<DataError>(bad == ids.end(), "{}: token {} has id {}, the vocabulary has {} (ids 0 … {})", name,
                     bad - ids.begin(), bad == ids.end() ? T{} : *bad, vocab_size, vocab_size - 1);
}

template <class T>
void widen(std::span<const T> ids, int64_t from, std::span<int64_t> into) {
  const auto part = ids.subspan(static_cast<size_t>(from), into.size());
  std::copy(part.begin(), part.end(), into.begin());
}

template <class T>
uint64_t hash_ids(std::span<const T> ids, int64_t from, int64_t to) {
  const auto part = ids.subspan(static_cast<size_t>(from), static_cast<size_t>(to - from));
  return hash_bytes(part.data(), part.size_bytes(), sizeof(T));
}

}  // namespace

std::shared_ptr<const TokenStore> TokenStore::of(std::string name, const std::vector<int64_t>& ids,
                                                 int64_t vocab_size) {
  TokenBuilder builder(std::move(name), vocab_size);
  builder.add(ids);
  return builder.finish();
}

std::shared_ptr<const TokenStore> TokenStore::map(const fs::path& path, TokenType raw, int64_t vocab_size) {
  const auto file = std::make_shared<const MappedFile>(path);
  const auto layout = layout_of(*file, raw);
  auto store = std::make_shared<TokenStore>();
  store->name_ = path.filename().string();
  store->owner_ = file;
  if (layout.type == TokenType::uint16) {
    store->narrow_ = ids_in<uint16_t>(*file, layout);
    require_known(store->narrow_, vocab_size, path.string());
  } else {
    store->wide_ = ids_in<uint32_t>(*file, layout);
    require_known(store->wide_, vocab_size, path.string());
  }
  return store;
}

std::shared_ptr<const TokenStore> TokenStore::take(std::string name, std::vector<uint16_t> narrow,
                                                   std::vector<uint32_t> wide) {
  struct Owner {
    std::vector<uint16_t> narrow;
    std::vector<uint32_t> wide;
  };
  const auto owner = std::make_shared<const Owner>(Owner{std::move(narrow), std::move(wide)});
  auto store = std::make_shared<TokenStore>();
  store->name_ = std::move(name);
  store->owner_ = owner;
  store->narrow_ = owner->narrow;
  store->wide_ = owner->wide;
  return store;
}

void TokenStore::read(int64_t from, std::span<int64_t> into) const {
  ORDO_ASSERT(from >= 0 && from + static_cast<int64_t>(into.size()) <= size());
  wide_.empty() ? widen(narrow_, from, into) : widen(wide_, from, into);
}

uint64_t TokenStore::fingerprint(int64_t from, int64_t to) const {
  return wide_.empty() ? hash_ids(narrow_, from, to) : hash_ids(wide_, from, to);
}

TokenBuilder::TokenBuilder(std::string name, int64_t vocab_size)
    : name_(std::move(name)), is_narrow_(static_cast<uint64_t>(vocab_size) <= kNarrowVocabulary) {}

void TokenBuilder::add(std::span<const int64_t> ids) {
  is_narrow_ ? static_cast<void>(narrow_.insert(narrow_.end(), ids.begin(), ids.end()))
             : static_cast<void>(wide_.insert(wide_.end(), ids.begin(), ids.end()));
}

int64_t TokenBuilder::size() const { return static_cast<int64_t>(is_narrow_ ? narrow_.size() : wide_.size()); }

std::shared_ptr<const TokenStore> TokenBuilder::finish() {
  return TokenStore::take(std::move(name_), std::move(narrow_), std::move(wide_));
}

void TokenSequence::add(std::shared_ptr<const TokenStore> store, int64_t from, int64_t to) {
  if (from == to) return;
  begins_.push_back(size() + to - from);
  documents_.push_back({std::move(store), from, to});
}

void TokenSequence::add(const TokenSequence& more) {
  for (const auto& [store, from, to] : more.documents_) add(store, from, to);
}

size_t TokenSequence::document_at(int64_t token) const {
  ORDO_ASSERT(token >= 0 && token < size());
  return static_cast<size_t>(std::upper_bound(begins_.begin(), begins_.end(), token) - begins_.begin()) - 1;
}

void TokenSequence::read(int64_t from, std::span<int64_t> ids, std::span<int64_t> documents) const {
  ORDO_ASSERT(ids.size() == documents.size());
  for (size_t done = 0, number = ids.empty() ? 0 : document_at(from); done < ids.size(); ++number) {
    const auto& document = documents_[number];
    const int64_t start = document.from + from + static_cast<int64_t>(done) - begins_[number];
    const size_t count = std::min(ids.size() - done, static_cast<size_t>(document.to - start));
    document.store->read(start, ids.subspan(done, count));
    std::fill_n(documents.begin() + static_cast<std::ptrdiff_t>(done), count, static_cast<int64_t>(number));
    done += count;
  }
}

std::string TokenSequence::place(int64_t token) const {
  const size_t number = document_at(token);
  const auto& document = documents_[number];
  return fmt::format("{}, offset {}", document.store->name(), document.from + token - begins_[number]);
}

std::pair<TokenSequence, TokenSequence> TokenSequence::cut(int64_t at) const {
  std::pair<TokenSequence, TokenSequence> parts;
  for (size_t i = 0; i < documents_.size(); ++i) {
    const auto& [store, from, to] = documents_[i];
    const int64_t middle = std::clamp(from + at - begins_[i], from, to);
    parts.first.add(store, from, middle);
    parts.second.add(store, middle, to);
  }
  return parts;
}

uint64_t TokenSequence::fingerprint() const {
  uint64_t hash = key_of(0, "tokens");
  for (const auto& [store, from, to] : documents_)
    hash = mix(mix(hash, static_cast<uint64_t>(to - from)), store->fingerprint(from, to));
  return hash;
}

void write_ids(const fs::path& path, const TokenSequence& tokens, int64_t vocab_size) {
  constexpr int64_t kBlock = 1 << 16;
  require<DataError>(tokens.size() <= std::numeric_limits<int32_t>::max(),
                     "{}: {} tokens are more than a token file can hold ({}): write them in several", path.string(),
                     tokens.size(), std::numeric_limits<int32_t>::max());
  const HeaderKind& kind = kHeaderKinds[static_cast<uint64_t>(vocab_size) <= kNarrowVocabulary ? 0 : 1];
  TokenHeader header;
  header.words[0] = kind.magic;
  header.words[1] = kind.version;
  header.words[2] = static_cast<int32_t>(tokens.size());
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  std::vector<int64_t> ids(kBlock), documents(kBlock);
  for (int64_t from = 0; from < tokens.size(); from += kBlock) {
    const auto count = static_cast<size_t>(std::min(kBlock, tokens.size() - from));
    tokens.read(from, std::span(ids).first(count), std::span(documents).first(count));
    for (size_t i = 0; i < count; ++i)
      bytes.append(reinterpret_cast<const char*>(&ids[i]), width_of(kind.type));  // the low bytes come first
  }
  write_file(path, bytes);
}

}  // namespace ordo
