// SPDX-License-Identifier: Apache-2.0
#include "ordo/tokenizers/charsmap.h"

#include "ordo/core/errors.h"
#include "ordo/tokenizers/unicode.h"

namespace ordo {

namespace {

constexpr uint32_t kHasLeaf = 1U << 8U, kValue = 0x7FFFFFFFU, kLabel = 0x800000FFU;

uint32_t read_unit(std::string_view bytes, size_t at) {
  uint32_t unit = 0;
  for (size_t i = 0; i < sizeof(unit); ++i)
    unit |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return unit;
}

}  // namespace

Charsmap::Charsmap(std::string_view bytes) {
  constexpr size_t kUnit = sizeof(uint32_t);
  require<DataError>(bytes.size() > kUnit, "a table of replacements has {} bytes, which is less than its head",
                     bytes.size());
  const size_t size = read_unit(bytes, 0);
  require<DataError>(size > 0 && size % (256 * kUnit) == 0 && size < bytes.size() - kUnit,
                     "a table of replacements of {} bytes says that its trie has {}: it must have blocks of 1024 and "
                     "leave room for the replacements",
                     bytes.size(), size);
  units_.reserve(size / kUnit);
  for (size_t at = kUnit; at < kUnit + size; at += kUnit) units_.push_back(read_unit(bytes, at));
  replacements_ = bytes.substr(kUnit + size);
  require<DataError>(replacements_.back() == '\0', "a table of replacements does not end in NUL");
  require_sound();
}

void Charsmap::require_sound() const {
  for (size_t i = 0; i < units_.size(); ++i) {
    if ((units_[i] & ~kValue) != 0) continue;  // a value, reached through its leaf
    const size_t children = i ^ offset(units_[i]);
    require<DataError>((children | 0xFFU) < units_.size(), "the trie of a table of replacements leads out of itself");
    const bool leaf = (units_[i] & kHasLeaf) != 0;
    require<DataError>(!leaf || (units_[children] & kValue) < replacements_.size(),
                       "the trie of a table of replacements names a replacement that is not there");
  }
}

std::optional<std::string_view> Charsmap::shortest(std::string_view text) const {
  size_t node = offset(units_[0]);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    node ^= byte;
    const uint32_t unit = units_[node];
    if ((unit & kLabel) != byte) return std::nullopt;
    node ^= offset(unit);
    if ((unit & kHasLeaf) != 0) return replacements_.data() + (units_[node] & kValue);
  }
  return std::nullopt;
}

std::string Charsmap::replaced(std::string_view text) const {
  constexpr size_t kShort = 6;
  std::string made;
  made.reserve(text.size());
  for (const std::string_view grapheme : graphemes(text)) {
    const auto whole = grapheme.size() < kShort ? shortest(grapheme) : std::nullopt;
    if (whole) {
      made += *whole;
      continue;
    }
    each_character(grapheme,
                   [&](char32_t, std::string_view character) { made += shortest(character).value_or(character); });
  }
  return made;
}

}  // namespace ordo
