// SPDX-License-Identifier: Apache-2.0
#include "ordo/config/words.h"

#include <fmt/core.h>

#include "ordo/core/text.h"
#include "ordo/core/utf8.h"

namespace ordo {

std::string shown(std::string_view text) {
  constexpr size_t kLongestShown = 60;
  std::string out;
  for (size_t i = 0, characters = 0; i < text.size(); ++characters) {
    if (characters == kLongestShown) return out + "…";
    const CodePoint point = code_point_at(text, i);
    const bool printable =
        point.bytes > 0 && (point.value >= 0x20 && point.value != 0x7F) && (point.value < 0x80 || point.value > 0x9F);
    if (printable)
      out += text.substr(i, point.bytes);
    else
      out +=
          text[i] == '\n'
              ? std::string("\\n")
              : fmt::format("\\x{:02x}",
                            static_cast<unsigned>(point.bytes > 0 ? point.value : static_cast<unsigned char>(text[i])));
    i += point.bytes > 0 ? point.bytes : 1;
  }
  return out;
}

std::string range_text(const Limits& l) {
  if (l.low && l.high)
    return fmt::format("in {}{}, {}{}", l.low_open ? "(" : "[", number_text(*l.low), number_text(*l.high),
                       l.high_open ? ")" : "]");
  if (l.low) return fmt::format("{} {}", l.low_open ? "above" : "at least", number_text(*l.low));
  if (l.high) return fmt::format("{} {}", l.high_open ? "below" : "at most", number_text(*l.high));
  return "";
}

bool in_range(double value, const Limits& l) {
  if (l.low && (l.low_open ? value <= *l.low : value < *l.low)) return false;
  return !(l.high && (l.high_open ? value >= *l.high : value > *l.high));
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  const std::string near = nearest(word, names);
  return near.empty() ? "" : fmt::format("did you mean '{}'?", near);
}

std::string child_path(std::string_view path, std::string_view key) {
  if (path.empty() || key.empty()) return std::string(path.empty() ? key : path);
  return fmt::format("{}.{}", path, key);
}

std::vector<std::string> names_of(const Kinds& kinds) {
  std::vector<std::string> all;
  for (const auto& info : kinds) all.emplace_back(info.kind);
  return all;
}

std::vector<std::string> names_of(Names names) {
  std::vector<std::string> all;
  for (const auto& name : names) all.emplace_back(name.name);
  return all;
}

const KindInfo* find_kind(const Kinds& kinds, std::string_view kind) {
  for (const auto& info : kinds)
    if (info.kind == kind) return &info;
  return nullptr;
}

}  // namespace ordo
