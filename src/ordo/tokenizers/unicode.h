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

bool is_punctuation(char32_t code);      // category P
bool is_mark(char32_t code);             // category M
bool is_nonspacing_mark(char32_t code);  // category Mn
bool is_letter(char32_t code);           // category L
bool is_number(char32_t code);           // category N
bool is_other(char32_t code);            // Cc, Cf, Cs, Co; not the unassigned ones

enum class NormalForm { nfc, nfd, nfkc, nfkd };
std::string normal_form(std::string_view text, NormalForm form);
// Each character by itself, as tokenizers have it: a final sigma is not told apart.
std::string lower_case(std::string_view text);
// Extended grapheme clusters (UAX 29), in order.
std::vector<std::string_view> graphemes(std::string_view text);

// Every `what`, which is not empty, replaced by `by`.
std::string with_replaced(std::string text, std::string_view what, std::string_view by);

}  // namespace ordo
