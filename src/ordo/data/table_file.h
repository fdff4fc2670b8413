// SPDX-License-Identifier: Apache-2.0
// Tables in text files: CSV and TSV, strict, each row with the line of the file where it begins.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/core/files.h"
#include "ordo/data/bad_lines.h"

namespace ordo {

// csv: cells between commas, as RFC 4180 has them: a cell in "quotes" may hold commas, line breaks and "" for a quote;
// a quote inside a cell without quotes, and text behind a closing one, are mistakes; blanks belong to their cell.
// tsv: cells between tabs, no quoting and no escapes: a tab in a cell is one cell more, a quote is a character.
enum class TableFormat { csv, tsv };
// By the name: .csv or .tsv, .gz or .zst behind it or not; DataError for all other names.
TableFormat table_format(const fs::path& path);

struct TableOptions {
  TableFormat format = TableFormat::csv;
  bool header = true;  // the first row names the columns
};

// All rows are equally wide. Rows and columns are counted from 0 in calls, from 1 in messages.
struct TableFile {
  fs::path file;
  std::vector<std::string> header;  // empty: the file was read without one
  std::vector<std::vector<std::string>> rows;
  std::vector<size_t> lines;     // lines[i]: where in the file row i begins, from 1
  std::vector<int64_t> numbers;  // numbers[i]: which row of the file it is, from 0; rows left out count

  size_t width() const { return rows.front().size(); }
  // The column that `name` names; one of digits alone that is no name counts from 1. Throws DataError with the nearest
  // name and all of them.
  size_t column(std::string_view name) const;

  // A cell as a decimal number; blanks around it and a leading + are taken. Throws DataError with file, line and column
  // for all else: NaN, infinities, hexadecimal, separators, units, what overflows, a blank cell.
  double number(size_t row, size_t column) const;
  std::optional<double> number_or_blank(size_t row, size_t column) const;     // nothing: a cell of blanks or of nothing
  int64_t whole(size_t row, size_t column, int64_t low, int64_t high) const;  // digits alone: "3", not "3.0"
  [[noreturn]] void refuse(size_t row, size_t column, std::string_view why) const;
};

// The number of a cell, as TableFile::number reads it; nothing where there is none.
std::optional<double> finite_number(std::string_view cell);

// Reads UTF-8 text as read_text does (.gz, .zst, byte order mark, CRLF; a CRLF inside a quoted cell becomes LF too).
// Only LF ends a row: a lone CR, U+2028, U+0085, VT, FF and NUL are characters of their cell. The last row needs no
// line break. A blank line is a row of one empty cell, so that rows never slip against those of another file; in wider
// tables it is a bad line.
//
// A bad line goes to `bad`: a row of another width than the first (the header, if there is one), and in CSV a quote
// where none may be (then the row is left out up to the line where that shows). Whatever `bad` says, DataError is
// thrown for what read_text refuses, for a quote that is never closed (it takes all lines behind it), a header with one
// name twice, and a file of which no row is left.
TableFile read_table(const fs::path& path, const TableOptions& options, BadLines& bad);

}  // namespace ordo
