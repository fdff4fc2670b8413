// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/tokenisation.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ordo/core/errors.h"
#include "ordo/core/utf8.h"
#include "ordo/metrics/words.h"

namespace ordo {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_stop(char c) { return c == '.' || c == ','; }
bool is_dash(char c) { return c == '-'; }
bool no_digit(char c) { return !is_digit(c); }
bool is_mark(char c) {  // ASCII punctuation but ' , - . which need to be seen with their neighbours
  return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string made;
  size_t from = 0;
  for (size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, from)) {
    made.append(text, from, at - from).append(by);
    from = at + what.size();
  }
  return made.append(text, from);
}

// Writes spaces into every pair of neighbours (first, second), left to right, pairs that share a character once. Bytes
// serve as well as characters: all that is looked for is ASCII, and no space gets inside of a character.
template <class First, class Second>
std::string spaced_pairs(std::string_view text, First first, Second second, std::string_view before,
                         std::string_view after) {
  std::string made;
  made.reserve(text.size() + text.size() / 4);
  size_t at = 0;
  for (; at + 1 < text.size(); ++at) {
    if (!first(text[at]) || !second(text[at + 1])) {
      made += text[at];
      continue;
    }
    made.append(before).append(1, text[at]).append(" ").append(1, text[at + 1]).append(after);
    ++at;
  }
  return made.append(text, std::min(at, text.size()));
}

// The passes of mteval-v13a's language-dependent part, each over what the one before left.
std::vector<std::string> western_words(std::string_view text) {
  std::string apart;
  for (const char c : text) is_mark(c) ? apart.append(" ").append(1, c).append(" ") : apart.append(1, c);
  apart = spaced_pairs(apart, no_digit, is_stop, "", " ");
  apart = spaced_pairs(apart, is_stop, no_digit, " ", "");
  return split_words(spaced_pairs(apart, is_digit, is_dash, "", " "));
}

// The language-independent part: words broken over lines, and the entities of SGML.
std::string plain(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kPasses{
      {{"<skipped>", ""}, {"-\n", ""}, {"\n", " "}, {"&quot;", "\""}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}}};
  std::string made(text);
  for (const auto& [what, by] : kPasses) made = replaced(made, what, by);
  return made;
}

// sacreBLEU's table. U+2001..U+2A6D and U+2F81..U+2FA1 stand in it where planes beyond the first were meant: dashes,
// arrows and mathematical signs count as Chinese, rare characters do not.
bool is_chinese(char32_t code) {
  static constexpr std::array<std::pair<char32_t, char32_t>, 22> kRanges{
      {{0x2001, 0x2A6D}, {0x2E80, 0x2EFF}, {0x2F00, 0x2FDF}, {0x2F81, 0x2FA1}, {0x2FF0, 0x2FFF}, {0x3000, 0x303F},
       {0x3100, 0x312F}, {0x31A0, 0x31BF}, {0x31C0, 0x31EF}, {0x3200, 0x32FF}, {0x3300, 0x33FF}, {0x3400, 0x4DB5},
       {0x4E00, 0x9FA5}, {0x9FA6, 0x9FBB}, {0xF900, 0xFA2D}, {0xFA30, 0xFA6A}, {0xFA70, 0xFAD9}, {0xFE10, 0xFE1F},
       {0xFE30, 0xFE4F}, {0xFF00, 0xFFEF}, {0x2600, 0x26FF}, {0x2700, 0x27BF}}};
  return std::any_of(kRanges.begin(), kRanges.end(),
                     [code](const auto& range) { return code >= range.first && code <= range.second; });
}

std::vector<std::string> chinese_words(std::string_view text) {
  std::string apart;
  for (const char32_t code : code_points(stripped(text))) {
    const bool alone = is_chinese(code);
    if (alone) apart += ' ';
    append_utf8(apart, code);
    if (alone) apart += ' ';
  }
  return western_words(apart);
}

std::vector<std::string> character_words(std::string_view text) {
  std::vector<std::string> words;
  for (const char32_t code : code_points(text)) {
    if (!is_white_space(code)) append_utf8(words.emplace_back(), code);
  }
  return words;
}

std::vector<std::string> rouge_words(std::string_view text) {
  std::string kept = lowered(text);
  std::replace_if(
      kept.begin(), kept.end(), [](char c) { return !is_digit(c) && !(c >= 'a' && c <= 'z'); }, ' ');
  return split_words(kept);
}

}  // namespace

std::string_view tokenisation_name(Tokenisation kind) {
  static constexpr std::array<std::string_view, 5> kNames{"none", "13a", "char", "zh", "rouge"};
  return kNames.at(static_cast<size_t>(kind));
}

std::vector<std::string> tokenised(std::string_view text, Tokenisation kind) {
  switch (kind) {
    case Tokenisation::none:
      return split_words(text);
    case Tokenisation::western:
      return western_words(" " + plain(stripped_right(text)) + " ");
    case Tokenisation::characters:
      return character_words(text);
    case Tokenisation::chinese:
      return chinese_words(text);
    case Tokenisation::rouge:
      return rouge_words(text);
  }
  throw Error("metrics: unknown tokenisation");
}

}  // namespace ordo
