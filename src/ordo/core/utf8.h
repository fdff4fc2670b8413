// SPDX-License-Identifier: Apache-2.0
// UTF-8: texts as characters and code points, whatever bytes they hold. A byte that is no part of valid UTF-8 is a
// character of its own, with the code point U+DC00 + byte, which no valid text has (as Python's surrogateescape).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ordo {

struct CodePoint {
  char32_t value = 0;
  size_t bytes = 0;  // 0: what stands there is not valid UTF-8
};
CodePoint code_point_at(std::string_view bytes, size_t offset);

inline constexpr char32_t kBrokenByte = 0xDC00;  // + byte

// Calls visit(code point, its bytes) for each character.
template <class Visit>
void each_character(std::string_view text, const Visit& visit) {
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    const size_t bytes = std::max<size_t>(point.bytes, 1);
    visit(point.bytes > 0 ? point.value : kBrokenByte + static_cast<unsigned char>(text[i]), text.substr(i, bytes));
    i += bytes;
  }
}

std::u32string code_points(std::string_view text);
void append_utf8(std::string& text, char32_t code);  // gives back the byte of U+DC80..U+DCFF

// Whether a byte is one of a character that began before it (10xxxxxx).
constexpr bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }
// The last offset, not behind this one, at which a character of valid UTF-8 begins: a text cut there is whole.
size_t character_start(std::string_view text, size_t offset);

// How many bytes at `offset` begin a character of valid UTF-8 that is not finished there: "\xE4\xB8" and "\xE4\xB8a"
// have 2. 0: there is a whole one, or none begins so.
size_t unfinished_length(std::string_view bytes, size_t offset);
// Any bytes as valid UTF-8: each unfinished beginning of a character becomes one U+FFFD, as Unicode recommends and the
// WHATWG's decoders do it, and so does each byte that begins none.
std::string repaired_utf8(std::string_view bytes);

// Lines (by LF) and columns (in characters), counted from 1.
struct TextPlace {
  int64_t line = 1, column = 1;
  std::string text() const;  // "line 3, column 7"
};
TextPlace place_in(std::string_view text, size_t offset);

bool is_space(char32_t code);  // the property White_Space: U+00A0 and U+3000 are in it, U+200B is not
bool is_ascii_punctuation(char32_t code);

// The terminal columns of one code point: 0 for combining marks and controls, 2 for wide East Asian characters and
// emoji.
size_t columns_of(char32_t code);
// The longest beginning of a text, in whole characters, that takes so many columns at most.
std::string_view fitting(std::string_view text, size_t columns);

}  // namespace ordo
