// SPDX-License-Identifier: Apache-2.0
// Unicode through utf8proc: classes of characters, normal forms, lower case, graphemes. Texts are valid UTF-8 unless it
// says otherwise.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/core/utf8.h"

namespace ordo {

void append_utf8(std::string& text, char32_t code);
std::vector<char32_t> code_points(std::string_view text);

bool is_space(char32_t code);  // the property White_Space: U+00A0 and U+3000 are in it, U+200B is not
bool is_ascii_punctuation(char32_t code);
bool is_punctuation(char32_t code);      // category P
bool is_mark(char32_t code);             // category M
bool is_nonspacing_mark(char32_t code);  // category Mn
bool is_letter(char32_t code);           // category L
bool is_number(char32_t code);           // category N
bool is_other(char32_t code);            // Cc, Cf, Cs, Co; not the unassigned ones

enum class NormalForm { nfc, nfd, nfkc, nfkd };
std::string normal_form(std::string_view text, NormalForm form);
// Each character by itself: a final sigma is not told apart.
std::string lower_case(std::string_view text);
// Extended grapheme clusters (UAX 29), in order.
std::vector<std::string_view> graphemes(std::string_view text);

// Every `what`, which is not empty, replaced by `by`.
std::string with_replaced(std::string text, std::string_view what, std::string_view by);

// Any bytes as UTF-8: each longest beginning of a sequence that cannot be finished becomes U+FFFD, as the WHATWG's
// decoders do it.
std::string repaired_utf8(std::string_view bytes);

// Calls visit(code point, its bytes) for each character.
template <class Visit>
void each_character(std::string_view text, const Visit& visit) {
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    const size_t bytes = point.bytes > 0 ? point.bytes : 1;
    visit(point.value, text.substr(i, bytes));
    i += bytes;
  }
}

}  // namespace ordo
