// SPDX-License-Identifier: Apache-2.0
#include "ordo/tokenizers/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "ordo/core/errors.h"

namespace ordo {

namespace {

utf8proc_category_t category(char32_t code) { return utf8proc_category(static_cast<utf8proc_int32_t>(code)); }

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

int options_of(NormalForm form) {
  constexpr int kAlways = UTF8PROC_STABLE;
  switch (form) {
    case NormalForm::nfc:
      return kAlways | UTF8PROC_COMPOSE;
    case NormalForm::nfd:
      return kAlways | UTF8PROC_DECOMPOSE;
    case NormalForm::nfkc:
      return kAlways | UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
    case NormalForm::nfkd:
      return kAlways | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT;
  }
  return kAlways;
}

}  // namespace

bool is_punctuation(char32_t code) {
  const auto found = category(code);
  return found >= UTF8PROC_CATEGORY_PC && found <= UTF8PROC_CATEGORY_PO;
}

bool is_mark(char32_t code) {
  const auto found = category(code);
  return found >= UTF8PROC_CATEGORY_MN && found <= UTF8PROC_CATEGORY_ME;
}

bool is_nonspacing_mark(char32_t code) { return category(code) == UTF8PROC_CATEGORY_MN; }

bool is_letter(char32_t code) {
  const auto found = category(code);
  return found >= UTF8PROC_CATEGORY_LU && found <= UTF8PROC_CATEGORY_LO;
}

bool is_number(char32_t code) {
  const auto found = category(code);
  return found >= UTF8PROC_CATEGORY_ND && found <= UTF8PROC_CATEGORY_NO;
}

bool is_other(char32_t code) {
  const auto found = category(code);
  return found >= UTF8PROC_CATEGORY_CC && found <= UTF8PROC_CATEGORY_CO;
}

std::string normal_form(std::string_view text, NormalForm form) {
  if (is_ascii(text)) return std::string(text);
  utf8proc_uint8_t* made = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &made, static_cast<utf8proc_option_t>(options_of(form)));
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(made, std::free);
  require<DataError>(size >= 0, "a text cannot be brought into a normal form of Unicode: {}", utf8proc_errmsg(size));
  return {reinterpret_cast<const char*>(made), static_cast<size_t>(size)};
}

std::string lower_case(std::string_view text) {
  std::string lower;
  lower.reserve(text.size());
  each_character(text, [&](char32_t code, std::string_view) {
    if (code == 0x130)
      lower += "i\u0307";  // the one character whose lower case is two of them, whatever stands around it
    else
      append_utf8(lower, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
  });
  return lower;
}

std::vector<std::string_view> graphemes(std::string_view text) {
  std::vector<std::string_view> all;
  utf8proc_int32_t state = 0, before = -1;
  size_t begin = 0, at = 0;
  each_character(text, [&](char32_t code, std::string_view bytes) {
    const auto now = static_cast<utf8proc_int32_t>(code);
    if (before >= 0 && utf8proc_grapheme_break_stateful(before, now, &state)) {
      all.push_back(text.substr(begin, at - begin));
      begin = at;
    }
    before = now;
    at += bytes.size();
  });
  if (begin < text.size()) all.push_back(text.substr(begin));
  return all;
}

std::string with_replaced(std::string text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

}  // namespace ordo
