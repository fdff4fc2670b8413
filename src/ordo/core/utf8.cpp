// SPDX-License-Identifier: Apache-2.0
#include "ordo/core/utf8.h"

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

}  // namespace

CodePoint code_point_at(std::string_view bytes, size_t offset) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[offset + i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                        : (lead & 0xF0) == 0xE0        ? 3
                        : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                       : 0;
  if (length == 0 || offset + length > bytes.size()) return {};
  char32_t code = lead & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3F);
  }
  static constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};  // below it the form is overlong
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[length] || code > 0x10FFFF || surrogate) return {};
  return {code, length};
}

size_t columns_of(char32_t code) {
  if (within_any(code, kNarrow)) return 0;
  return within_any(code, kWide) ? 2 : 1;
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
  for (size_t i = 0; i < utf8.size();) {
    const CodePoint point = code_point_at(utf8, i);
    width += point.bytes == 0 ? 1 : columns_of(point.value);  // a broken byte is drawn as one replacement character
    i += point.bytes == 0 ? 1 : point.bytes;
  }
  return width;
}

}  // namespace ordo
