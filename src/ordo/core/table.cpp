// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "ordo/core/text.h"

namespace ordo {

namespace {

// "12", "-0.5", "10.7M", "1.3 GB", "93.1%", "0.92 ± 0.01": what one compares digit under digit.
bool looks_numeric(std::string_view cell) {
  if (cell.starts_with('+')) cell.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc()) return false;
  const auto rest = cell.substr(static_cast<size_t>(end - cell.data()));
  constexpr size_t kLongestUnit = 3;
  return display_width(rest) <= kLongestUnit || rest.starts_with(" ±");
}

void put_cell(std::string& line, std::string_view cell, size_t width, bool right, bool last) {
  const std::string gap(width - display_width(cell), ' ');
  if (right) line += gap;
  line += cell;
  if (!right && !last) line += gap;
  if (!last) line += "  ";
}

}  // namespace

std::string Table::text() const {
  size_t columns = header_.size();
  for (const auto& row : rows_) columns = std::max(columns, row.size());
  const auto cell = [](const std::vector<std::string>& row, size_t c) {
    return c < row.size() ? std::string_view(row[c]) : "";
  };

  std::vector<size_t> width(columns, 0);
  std::vector<bool> right(columns, false);
  for (size_t c = 0; c < columns; ++c) {
    width[c] = display_width(cell(header_, c));
    bool any = false, all = true;
    for (const auto& row : rows_) {
      const auto text = cell(row, c);
      width[c] = std::max(width[c], display_width(text));
      if (text.empty() || text == "-") continue;
      any = true;
      all = all && looks_numeric(text);
    }
    right[c] = any && all;
  }

  std::string all;
  const auto put_row = [&](const std::vector<std::string>& row) {
    std::string line;
    for (size_t c = 0; c < columns; ++c) put_cell(line, cell(row, c), width[c], right[c], c + 1 == columns);
    line.erase(line.find_last_not_of(' ') + 1);
    all += line + "\n";
  };
  if (!header_.empty()) put_row(header_);
  for (const auto& row : rows_) put_row(row);
  return all;
}

}  // namespace ordo
