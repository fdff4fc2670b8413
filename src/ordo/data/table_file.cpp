// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/table_file.h"

#include <csv.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "ordo/config/words.h"
#include "ordo/core/text.h"
#include "ordo/data/packed_file.h"
#include "ordo/data/text_file.h"

namespace ordo {

namespace {

using Cells = std::vector<std::string>;

std::string line_place(const fs::path& file, size_t line) { return fmt::format("{}: line {}", file.string(), line); }

class TableBuilder {
 public:
  TableBuilder(const fs::path& path, bool header, BadLines& bad) : header_(header), bad_(&bad) { table_.file = path; }

  void row(Cells cells, size_t line) {
    if (width_ == 0) {
      width_ = cells.size();
      if (header_) return name_columns(std::move(cells), line);
    }
    if (cells.size() != width_) return bad(line, width_problem(cells));
    table_.rows.push_back(std::move(cells));
    table_.lines.push_back(line);
    table_.numbers.push_back(next_++);
  }

  // Without its header a table's next row would be taken for one.
  void bad(size_t line, std::string_view problem) {
    require<DataError>(width_ > 0 || !header_, "{}: {}", line_place(table_.file, line), problem);
    bad_->leave_out(fmt::format("{}: {}", line_place(table_.file, line), problem));
    left_out_ = true;
    ++next_;
  }

  TableFile finish() {
    require<DataError>(!table_.rows.empty(), "{}: {}", table_.file.string(),
                       left_out_ ? "no row is left: " + bad_->sentence()
                                 : "there is no row behind the header (rows end with LF or CRLF)");
    return std::move(table_);
  }

 private:
  void name_columns(Cells cells, size_t line) {
    std::set<std::string_view> seen;
    for (const auto& name : cells)
      require<DataError>(seen.insert(name).second, "{}: the header names column '{}' twice",
                         line_place(table_.file, line), shown(name));
    table_.header = std::move(cells);
  }

  std::string width_problem(const Cells& cells) const {
    const std::string expected = fmt::format("expected {} {}", width_, width_ == 1 ? "cell" : "cells");
    if (cells.size() == 1 && cells.front().empty()) return expected + ", found a blank line";
    return fmt::format("{}, found {}", expected, cells.size());
  }

  TableFile table_;
  bool header_;
  int64_t next_ = 0;  // number of the next row
  bool left_out_ = false;
  size_t width_ = 0;  // 0: before the first row
  BadLines* bad_;
};

// Calls visit(line with its break, its number) for each line.
template <class Visit>
void each_table_line(std::string_view text, const Visit& visit) {
  size_t number = 0;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size() - 1) + 1;
    visit(text.substr(from, end - from), ++number);
    from = end;
  }
}

// libcsv, fed one line at a time, so that it is known where each row begins. At most one row ends in a line.
class CsvRows {
 public:
  explicit CsvRows(TableBuilder& builder) : builder_(&builder) { start(); }
  ~CsvRows() { csv_free(&parser_); }
  CsvRows(const CsvRows&) = delete;
  CsvRows& operator=(const CsvRows&) = delete;

  void line(std::string_view text, size_t number) {
    if (!open_) begin_ = number;
    open_ = true;
    const size_t taken = csv_parse(&parser_, text.data(), text.size(), &CsvRows::cell, &CsvRows::row, this);
    if (taken == text.size()) return hand_over();
    require(csv_error(&parser_) == CSV_EPARSE, "cannot take line {} apart: {}", number,
            csv_strerror(csv_error(&parser_)));
    csv_free(&parser_);
    start();
    builder_->bad(begin_,
                  "a quote stands inside a cell; a cell with a quote is written in quotes, and the quote twice");
  }

  void finish(const fs::path& file) {
    const bool whole = csv_fini(&parser_, &CsvRows::cell, &CsvRows::row, this) == 0;
    require<DataError>(whole, "{}: a quoted cell of this row is never closed", line_place(file, begin_));
    hand_over();
  }

 private:
  void start() {
    require(csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL) == 0, "libcsv cannot be used");
    csv_set_space_func(&parser_, [](unsigned char) { return 0; });  // else it cuts blanks off
    csv_set_term_func(&parser_, [](unsigned char byte) { return static_cast<int>(byte == '\n'); });
    csv_set_blk_size(&parser_, size_t{1} << 14);  // by how much its buffer grows: a long cell would take many steps
    cells_.clear();
    open_ = ended_ = false;
  }

  static void cell(void* data, size_t size, void* self) {
    static_cast<CsvRows*>(self)->cells_.emplace_back(static_cast<const char*>(data), size);
  }
  static void row(int, void* self) { static_cast<CsvRows*>(self)->ended_ = true; }

  // Not in the callbacks: what the builder throws must not go through C.
  void hand_over() {
    if (!ended_) return;
    if (cells_.empty()) cells_.emplace_back();  // a blank line
    open_ = ended_ = false;
    builder_->row(std::exchange(cells_, {}), begin_);
  }

  csv_parser parser_{};
  TableBuilder* builder_;
  Cells cells_;
  size_t begin_ = 1;
  bool open_ = false;  // a row has begun and not ended
  bool ended_ = false;
};

std::string_view trimmed_cell(std::string_view cell) {
  const size_t from = cell.find_first_not_of(" \t");
  return from == std::string_view::npos ? "" : cell.substr(from, cell.find_last_not_of(" \t") - from + 1);
}

template <class Number>
std::optional<Number> parsed_cell(std::string_view cell) {
  std::string_view digits = trimmed_cell(cell);
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  Number value{};
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::string found_cell(std::string_view cell) {
  return trimmed_cell(cell).empty() ? "a blank cell" : fmt::format("'{}'", shown(cell));
}

std::string shown_columns(const Cells& header) {
  constexpr size_t kShown = 30;
  Cells names;
  for (size_t i = 0; i < std::min(header.size(), kShown); ++i) names.push_back(shown(header[i]));
  return join(names, ", ") + (header.size() > kShown ? ", …" : "");
}

}  // namespace

TableFormat table_format(const fs::path& path) {
  const auto extension = without_packing(path).extension();
  require<DataError>(extension == ".csv" || extension == ".tsv",
                     "{} is not named .csv or .tsv (.gz or .zst may stand behind it), so how its cells are parted "
                     "cannot be known",
                     path.string());
  return extension == ".csv" ? TableFormat::csv : TableFormat::tsv;
}

size_t TableFile::column(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found != header.end()) return static_cast<size_t>(found - header.begin());
  size_t number = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool counted = code == std::errc{} && end == name.data() + name.size();
  if (counted && number >= 1 && number <= width()) return number - 1;
  require<DataError>(!header.empty(),
                     "{}: there is no column '{}'; the file has no header: name a column by its number, 1 to {}",
                     file.string(), shown(name), width());
  const std::string hint = did_you_mean(name, header);
  throw DataError(fmt::format("{}: there is no column '{}'{}; there are {} (or 1 to {})", file.string(), shown(name),
                              hint.empty() ? "" : "; " + hint, shown_columns(header), width()));
}

void TableFile::refuse(size_t row, size_t column, std::string_view why) const {
  const std::string name = header.empty() ? "" : fmt::format(" ('{}')", shown(header[column]));
  throw DataError(fmt::format("{}: column {}{}: {}", line_place(file, lines[row]), column + 1, name, why));
}

std::optional<double> finite_number(std::string_view cell) {
  const auto value = parsed_cell<double>(cell);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

double TableFile::number(size_t row, size_t column) const {
  const std::string& cell = rows[row][column];
  const auto value = finite_number(cell);
  if (!value) refuse(row, column, fmt::format("expected a finite number, found {}", found_cell(cell)));
  return *value;
}

std::optional<double> TableFile::number_or_blank(size_t row, size_t column) const {
  if (trimmed_cell(rows[row][column]).empty()) return std::nullopt;
  return number(row, column);
}

int64_t TableFile::whole(size_t row, size_t column, int64_t low, int64_t high) const {
  const std::string& cell = rows[row][column];
  const auto value = parsed_cell<int64_t>(cell);
  if (!value || *value < low || *value > high)
    refuse(row, column, fmt::format("expected a whole number from {} to {}, found {}", low, high, found_cell(cell)));
  return *value;
}

TableFile read_table(const fs::path& path, const TableOptions& options, BadLines& bad) {
  const std::string text = read_text(path);
  TableBuilder builder(path, options.header, bad);
  if (options.format == TableFormat::csv) {
    CsvRows rows(builder);
    each_table_line(text, [&](std::string_view line, size_t number) { rows.line(line, number); });
    rows.finish(path);
  } else {
    each_table_line(text, [&](std::string_view line, size_t number) {
      if (line.ends_with('\n')) line.remove_suffix(1);
      builder.row(split(line, '\t'), number);
    });
  }
  return builder.finish();
}

}  // namespace ordo
