// SPDX-License-Identifier: Apache-2.0
#include "ordo/config/excerpt.h"

#include <fmt/core.h>

#include <algorithm>

#include "ordo/core/text.h"
#include "ordo/core/utf8.h"

namespace ordo {

std::vector<std::string_view> characters_of(std::string_view line) {
  std::vector<std::string_view> all;
  each_character(line, [&](char32_t, std::string_view character) { all.push_back(character); });
  return all;
}

namespace {

constexpr size_t kLongestLine = 160;  // characters of the line shown under a problem
constexpr size_t kBeforeCaret = 60;   // of a longer one, left of the caret

bool is_control(std::string_view character) {
  const uint32_t value = code_point_at(character, 0).value;
  return value < 0x20 || (value >= 0x7F && value <= 0x9F);
}

// How many characters from `start` the key or value there takes: what the caret underlines.
size_t token_length(const std::vector<std::string_view>& line, size_t start) {
  const auto at = [&](size_t i) { return i < line.size() ? line[i] : std::string_view(); };
  const std::string_view first = at(start);
  if (first == "[" || first == "{" || first.empty()) return 1;
  if (first == "'" || first == "\"") {
    for (size_t i = start + 1; i < line.size(); ++i)
      if (line[i] == first && (first == "'" || line[i - 1] != "\\")) return i + 1 - start;
    return 1;
  }
  size_t end = start;
  while (end < line.size()) {
    const std::string_view c = line[end], next = at(end + 1);
    const bool over =
        c == "," || c == "]" || c == "}" || (c == ":" && (next == " " || next.empty())) || (c == " " && next == "#");
    if (over) break;
    ++end;
  }
  while (end > start + 1 && line[end - 1] == " ") --end;
  return std::max<size_t>(end - start, 1);
}

}  // namespace

std::string excerpt(const std::string& margin, std::string_view line, int column, size_t width,
                    const std::string& hint) {
  const auto characters = characters_of(line);
  const size_t caret = std::min(static_cast<size_t>(std::max(column, 1)) - 1, characters.size());
  const size_t length = width > 0 ? width : token_length(characters, caret);
  size_t begin = 0, end = characters.size();
  if (characters.size() > kLongestLine) {
    begin = caret > kBeforeCaret ? caret - kBeforeCaret : 0;
    end = std::min(begin + kLongestLine, characters.size());
  }
  const auto piece = [&](size_t from, size_t to) {
    std::string text;
    for (size_t i = from; i < std::min(to, characters.size()); ++i)
      text += is_control(characters[i]) ? " " : characters[i];
    return text;
  };
  const std::string before = (begin > 0 ? "…" : "") + piece(begin, caret);
  const std::string after = piece(caret, end) + (end < characters.size() ? "…" : "");
  const size_t underlined = std::max<size_t>(display_width(piece(caret, std::min(caret + length, end))), 1);
  std::string out =
      fmt::format("{}{}{}\n{}^{}", margin, before, after,
                  std::string(display_width(margin) + display_width(before), ' '), std::string(underlined - 1, '~'));
  return out + (hint.empty() ? "" : " " + hint) + "\n";
}

}  // namespace ordo
