// SPDX-License-Identifier: Apache-2.0
#include "ordo/core/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

namespace ordo {

namespace {

// What is left of a name when spelling habits are set aside: batchSize, batch-size and Batch_Size are one.
std::string bare_letters(std::string_view word) {
  std::string bare;
  for (const char c : word)
    if (c != '_' && c != '-' && c != ' ') bare += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return bare;
}

std::string one_decimal(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

// The value in the largest unit of a ladder of 1000s that leaves at least 1 after rounding.
std::pair<std::string, size_t> scaled(double value, size_t units) {
  size_t unit = 0;
  while (unit + 1 < units && std::abs(value) >= 999.95) {
    value /= 1000;
    ++unit;
  }
  return {one_decimal(value), unit};
}

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string nearest(std::string_view word, std::span<const std::string> names) {
  const std::string bare = bare_letters(word.substr(0, 200));
  if (bare.empty()) return "";
  const size_t allowed = bare.size() <= 3 ? 1 : std::max<size_t>(2, bare.size() / 3);
  std::string best;
  size_t least = allowed + 1;
  for (const auto& name : names) {
    const size_t distance = edit_distance(bare, bare_letters(name));
    if (distance < least && distance < name.size()) {
      least = distance;
      best = name;
    }
  }
  return best;
}

std::string number_text(double value) { return fmt::format("{}", value); }

std::string decimal_text(double value) {
  if (!std::isfinite(value)) return "-";
  return fmt::format("{:.4f}", std::abs(value) < 5e-5 ? 0.0 : value);
}

std::string count_text(double count) {
  static constexpr std::array<std::string_view, 5> kUnits{"", "k", "M", "B", "T"};
  const auto [digits, unit] = scaled(count, kUnits.size());
  return digits + std::string(kUnits[unit]);
}

std::string bytes_text(double bytes) {
  static constexpr std::array<std::string_view, 6> kUnits{"B", "kB", "MB", "GB", "TB", "PB"};
  const auto [digits, unit] = scaled(bytes, kUnits.size());
  return digits + " " + std::string(kUnits[unit]);
}

std::string duration_text(double seconds) {
  constexpr double kLongest = 1e12;  // beyond it (and for NaN) there is nothing to say
  if (!(seconds >= 0 && seconds < kLongest)) return "?";
  if (seconds < 0.0995) return fmt::format("{:.0f}ms", seconds * 1000);
  if (seconds < 9.95) return fmt::format("{:.1f}s", seconds);
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{}h {:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}d {:02}h", whole / 86400, whole / 3600 % 24);
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string all;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) all += separator;
    all += parts[i];
  }
  return all;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace ordo
