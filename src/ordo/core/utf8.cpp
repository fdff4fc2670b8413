// SPDX-License-Identifier: Apache-2.0
#include "ordo/core/utf8.h"

#include <fmt/format.h>

#include <array>

#include "ordo/core/text.h"

namespace ordo {

namespace {

struct CodeRange {
  char32_t first, last;
};
// Unicode's East Asian Width W and F, in blocks (UAX 11).
constexpr std::array<CodeRange, 15> kWide{{{0x1100, 0x115F},
                                           {0x231A, 0x231B},
                                           {0x2E80, 0x303E},
                                           {0x3041, 0x33FF},
                                           {0x3400, 0x4DBF},
                                           {0x4E00, 0xA4CF},
                                           {0xA960, 0xA97F},
                                           {0xAC00, 0xD7A3},
                                           {0xF900, 0xFAFF},
                                           {0xFE30, 0xFE6F},
                                           {0xFF00, 0xFF60},
                                           {0xFFE0, 0xFFE6},
                                           {0x1F300, 0x1F64F},
                                           {0x1F680, 0x1F9FF},
                                           {0x20000, 0x3FFFD}}};
// Combining marks, zero-width characters and variation selectors.
constexpr std::array<CodeRange, 9> kNarrow{{{0x0000, 0x001F},
                                            {0x007F, 0x009F},
                                            {0x0300, 0x036F},
                                            {0x0483, 0x0489},
                                            {0x1AB0, 0x1AFF},
                                            {0x1DC0, 0x1DFF},
                                            {0x200B, 0x200F},
                                            {0x20D0, 0x20FF},
                                            {0xFE00, 0xFE0F}}};

template <size_t N>
bool within_any(char32_t code, const std::array<CodeRange, N>& ranges) {
  for (const auto& range : ranges)
    if (code >= range.first && code <= range.last) return true;
  return false;
}

// The character that may begin with the byte at an offset: how many bytes it takes, 0 if none begins so, and how many
// of them are there (Unicode, table 3-7: after some first bytes the second one has narrower limits).
struct Sequence {
  size_t length, found;
};
Sequence sequence_at(std::string_view bytes, size_t offset) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[offset + i]); };
  const unsigned lead = byte(0);
  const size_t length = lead < 0x80                    ? 1
                        : lead >= 0xC2 && lead <= 0xDF ? 2
                        : lead >= 0xE0 && lead <= 0xEF ? 3
                        : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                       : 0;
  const size_t there = std::min(length, bytes.size() - offset);
  for (size_t i = 1; i < there; ++i) {
    const unsigned least = i > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned most = i > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte(i) < least || byte(i) > most) return {length, i};
  }
  return {length, there};
}

}  // namespace

CodePoint code_point_at(std::string_view bytes, size_t offset) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[offset + i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const auto [length, found] = sequence_at(bytes, offset);
  if (length == 0 || found < length) return {};
  char32_t code = byte(0) & (0x7FU >> length);
  for (size_t i = 1; i < length; ++i) code = (code << 6U) | (byte(i) & 0x3FU);
  return {code, length};
}

std::u32string code_points(std::string_view text) {
  std::u32string all;
  all.reserve(text.size());
  each_character(text, [&](char32_t code, std::string_view) { all += code; });
  return all;
}

void append_utf8(std::string& text, char32_t code) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  const auto put_rest = [&](unsigned shift) { put(0x80U | ((code >> shift) & 0x3FU)); };
  if (code >= kBrokenByte + 0x80 && code <= kBrokenByte + 0xFF) return put(code - kBrokenByte);
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0U | (code >> 6U));
  } else if (code < 0x10000) {
    put(0xE0U | (code >> 12U));
    put_rest(6);
  } else {
    put(0xF0U | (code >> 18U));
    put_rest(12);
    put_rest(6);
  }
  put_rest(0);
}

size_t character_start(std::string_view text, size_t offset) {
  while (offset > 0 && offset < text.size() && continues_character(text[offset])) --offset;
  return offset;
}

size_t unfinished_length(std::string_view bytes, size_t offset) {
  const auto [length, found] = sequence_at(bytes, offset);
  return found < length ? found : 0;
}

std::string repaired_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (size_t i = 0; i < bytes.size();) {
    const size_t length = code_point_at(bytes, i).bytes;
    text += length > 0 ? bytes.substr(i, length) : "\uFFFD";
    i += length > 0 ? length : std::max<size_t>(unfinished_length(bytes, i), 1);
  }
  return text;
}

std::string TextPlace::text() const { return fmt::format("line {}, column {}", line, column); }

TextPlace place_in(std::string_view text, size_t offset) {
  TextPlace place;
  for (const char c : text.substr(0, offset)) {
    if (c == '\n')
      place = {.line = place.line + 1, .column = 1};
    else if (!continues_character(c))
      ++place.column;
  }
  return place;
}

bool is_space(char32_t code) {
  return (code >= 0x09 && code <= 0x0D) || code == 0x20 || code == 0x85 || code == 0xA0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F ||
         code == 0x3000;
}

bool is_ascii_punctuation(char32_t code) {
  return (code >= '!' && code <= '/') || (code >= ':' && code <= '@') || (code >= '[' && code <= '`') ||
         (code >= '{' && code <= '~');
}

size_t columns_of(char32_t code) {
  if (within_any(code, kNarrow)) return 0;  // not a broken byte: it is drawn as one replacement character
  return within_any(code, kWide) ? 2 : 1;
}

std::string_view fitting(std::string_view text, size_t columns) {
  size_t used = 0, end = 0;
  each_character(text, [&](char32_t code, std::string_view bytes) {
    used += columns_of(code);
    if (used <= columns) end += bytes.size();
  });
  return text.substr(0, end);
}

bool valid_utf8(std::string_view bytes, size_t* bad_offset) {
  for (size_t i = 0; i < bytes.size();) {
    const size_t length = code_point_at(bytes, i).bytes;
    if (length == 0) {
      if (bad_offset != nullptr) *bad_offset = i;
      return false;
    }
    i += length;
  }
  return true;
}

size_t display_width(std::string_view utf8) {
  size_t width = 0;
  each_character(utf8, [&](char32_t code, std::string_view) { width += columns_of(code); });
  return width;
}

}  // namespace ordo
