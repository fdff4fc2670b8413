// SPDX-License-Identifier: Apache-2.0
// Words for people: nearest names, numbers with units, aligned tables.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ordo {

// Damerau-Levenshtein distance (adjacent swaps count one).
size_t edit_distance(std::string_view a, std::string_view b);
// The name nearest to word, or "" when none is near enough to be a slip of the fingers.
std::string nearest(std::string_view word, std::span<const std::string> names);

std::string number_text(double value);      // shortest text that reads back to the same double: 0.0003, 1e-08, 2
std::string decimal_text(double value);     // four decimals, no -0.0000; "-" for what is not finite
std::string count_text(double count);       // 10745088 -> "10.7M"
std::string bytes_text(double bytes);       // 1.3 GB (powers of 1000)
std::string duration_text(double seconds);  // "2m 03s"; "0.8s"
std::string join(std::span<const std::string> parts, std::string_view separator);
std::vector<std::string> split(std::string_view text, char separator);  // "a..b" -> "a", "", "b"; "" -> ""

// True when the bytes are valid UTF-8 (no surrogates, no overlong forms); otherwise *bad_offset is where the first bad
// sequence starts.
bool valid_utf8(std::string_view bytes, size_t* bad_offset = nullptr);
// The terminal columns a text takes (wide East Asian characters take two).
size_t display_width(std::string_view utf8);

// Rows and columns for a terminal: text columns left, number columns right aligned.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string text() const;  // ends in a line break
  bool empty() const { return rows_.empty(); }

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace ordo
