// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/table_file.h"

#include <algorithm>
#include <random>
#include <utility>

#include "ordo/core/errors.h"
#include "support/packing.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

using Rows = std::vector<std::vector<std::string>>;
using Lines = std::vector<size_t>;

constexpr bool kHeader = true, kBare = false;

TableFile table_of(const Scratch& scratch, const std::string& name, const std::string& bytes, bool header,
                   OnBadLine policy = OnBadLine::stop) {
  const auto path = scratch.write(name, bytes);
  BadLines bad(policy);
  return read_table(path, {.format = table_format(path), .header = header}, bad);
}

std::string table_refusal(const Scratch& scratch, const std::string& name, const std::string& bytes,
                          bool header = kBare, OnBadLine policy = OnBadLine::stop) {
  return thrown<DataError>([&] { table_of(scratch, name, bytes, header, policy); });
}

// Bytes of an alphabet, each with equal chance; Catch's own seed draws others with --rng-seed.
class Drawn {
 public:
  explicit Drawn(std::string alphabet) : alphabet_(std::move(alphabet)), random_(Catch::rngSeed()) {}
  size_t below(size_t end) { return random_() % end; }
  std::string bytes(size_t most) {
    std::string drawn(below(most + 1), ' ');
    for (char& byte : drawn) byte = alphabet_[below(alphabet_.size())];
    return drawn;
  }

 private:
  std::string alphabet_;
  std::mt19937 random_;
};

std::string csv_cell(const std::string& text) {
  std::string cell = "\"";
  for (const char byte : text) cell += byte == '"' ? "\"\"" : std::string(1, byte);
  return cell + '"';
}

}  // namespace

TEST_CASE("table files: odd but sound CSV is read as RFC 4180 has it", "[unit]") {
  struct Case {
    std::string what, bytes;
    Rows rows;
    Lines lines;
  };
  const std::vector<Case> cases{
      {"plain", "a,b\n1,2\n", {{"a", "b"}, {"1", "2"}}, {1, 2}},
      {"no final line break", "a,b\n1,2", {{"a", "b"}, {"1", "2"}}, {1, 2}},
      {"no final line break, an empty last cell", "a,b\n1,", {{"a", "b"}, {"1", ""}}, {1, 2}},
      {"CRLF", "a,b\r\n1,2\r\n", {{"a", "b"}, {"1", "2"}}, {1, 2}},
      {"a byte order mark", "\xEF\xBB\xBF\"a\",b\n", {{"a", "b"}}, {1}},
      {"quotes", "\"a,b\",\"say \"\"x\"\"\"\n\"\",\n", {{"a,b", "say \"x\""}, {"", ""}}, {1, 2}},
      {"quoted line breaks",
       "\"a\nb\n\nc\",1\nd,2\n\"e\n\",3",
       {{"a\nb\n\nc", "1"}, {"d", "2"}, {"e\n", "3"}},
       {1, 5, 6}},
      {"a quoted CRLF", "\"a\r\nb\",1\r\nc,2", {{"a\nb", "1"}, {"c", "2"}}, {1, 3}},
      {"blanks stay", " a , b\n", {{" a ", " b"}}, {1}},
      {"blanks stay in quotes", "\" a \",\t\n", {{" a ", "\t"}}, {1}},
      {"a lone CR is a character", "a\rb,c\rd\n", {{"a\rb", "c\rd"}}, {1}},
      {"Unicode's line separators",
       "a\u2028b,c\u0085d\x0B\x0C\n1,2",
       {{"a\u2028b", "c\u0085d\x0B\x0C"}, {"1", "2"}},
       {1, 2}},
      {"a NUL is a character", std::string("a\0b,cccccccccccc\n", 17), {{std::string("a\0b", 3), "cccccccccccc"}}, {1}},
      {"blank lines are rows of one column", "a\n\nb\n\n", {{"a"}, {""}, {"b"}, {""}}, {1, 2, 3, 4}},
      {"only blanks", "  \n \n", {{"  "}, {" "}}, {1, 2}},
      {"nothing but commas", ",,\n,,", {{"", "", ""}, {"", "", ""}}, {1, 2}},
  };
  const Scratch scratch;
  for (const auto& [what, bytes, rows, lines] : cases) {
    CAPTURE(what);
    for (const auto& [name, packed] :
         {std::pair{"t.csv", bytes}, std::pair{"t.csv.gz", gzip_of(bytes)}, std::pair{"t.csv.zst", zstd_of(bytes)}}) {
      const auto table = table_of(scratch, name, packed, kBare);
      CHECK(table.rows == rows);
      CHECK(table.lines == lines);
      CHECK(table.header.empty());
    }
  }
}

TEST_CASE("table files: TSV knows no quotes and no escapes", "[unit]") {
  const Scratch scratch;
  const auto table = table_of(scratch, "t.tsv", "\"a\tb\"\"\r\n a,\\t\t\n'\tx\u2028\ry", kBare);
  CHECK(table.rows == Rows{{"\"a", "b\"\""}, {" a,\\t", ""}, {"'", "x\u2028\ry"}});
  CHECK(table.lines == Lines{1, 2, 3});
}

TEST_CASE("table files: a header names the columns, and rows begin behind it", "[unit]") {
  const Scratch scratch;
  const auto table = table_of(scratch, "t.csv", "\"id\nof it\",label\nx,1\ny,2\n", kHeader);
  CHECK(table.header == std::vector<std::string>{"id\nof it", "label"});
  CHECK(table.rows == Rows{{"x", "1"}, {"y", "2"}});
  CHECK(table.lines == Lines{3, 4});
  CHECK(table.width() == 2);
}

TEST_CASE("table files: what is no table is refused with file, line and reason", "[unit]") {
  struct Case {
    std::string what, name, bytes, reason;
    bool header;
  };
  const std::vector<Case> cases{
      {"a tab in a cell", "t.tsv", "a\tb\nc\td\te\n", "t.tsv: line 2: expected 2 cells, found 3", kBare},
      {"a cell too few", "t.csv", "a,b\n1,2\n3\n", "t.csv: line 3: expected 2 cells, found 1", kHeader},
      {"a row behind quoted breaks", "t.csv", "a,b\n\"x\n\ny\",2\n3,4,5\n", "line 5: expected 2 cells, found 3", kBare},
      {"a wide row of three lines", "t.csv", "a,b\n\"x\n\ny\",2,3\n", "line 2: expected 2 cells, found 3", kBare},
      {"a blank line inside", "t.csv", "a,b\n\n1,2\n", "line 2: expected 2 cells, found a blank line", kBare},
      {"a blank line at the end", "t.tsv", "a\tb\n1\t2\n\n", "line 3: expected 2 cells, found a blank line", kBare},
      {"one column", "t.csv", "a\nb,c\n", "line 2: expected 1 cell, found 2", kBare},
      {"a quote inside a cell", "t.csv", "a,b\n1,5\" pipe\n", "line 2: a quote stands inside a cell", kBare},
      {"text behind a quote", "t.csv", "a,b\n\"x\"y,2\n", "line 2: a quote stands inside a cell", kBare},
      {"a blank behind a quote", "t.csv", "\"x\" ,2\n", "line 1: a quote stands inside a cell", kBare},
      {"an unclosed quote", "t.csv", "a,b\n1,\"2\n3,4\n", "line 2: a quoted cell of this row is never closed", kBare},
      {"a quote at the very end", "t.csv", "a,b\n1,\"", "line 2: a quoted cell of this row is never closed", kBare},
      {"a name twice", "t.csv", "a,b,a\n1,2,3\n", "line 1: the header names column 'a' twice", kHeader},
      {"a header alone", "t.tsv", "a\tb\n", "there is no row behind the header", kHeader},
      {"lone CR as line breaks", "t.csv", "a,b\r1,2\r", "there is no row behind the header (rows end with LF", kHeader},
      {"empty", "t.csv", "", "is empty", kBare},
      {"UTF-16", "t.csv",
       std::string("\xFF\xFE"
                   "a\0,\0b\0",
                   8),
       "looks like UTF-16", kBare},
      {"Latin-1", "t.tsv", "a\tb\ncaf\xE9\t1\n", "line 2: byte 0xE9", kBare},
      {"a damaged file", "t.csv.zst", zstd_of("a,b\n1,2\n").substr(0, 9), "cut off", kBare},
      {"another name", "t.txt", "a,b\n", "is not named .csv or .tsv", kBare},
      {"another name, packed", "t.gz", "a,b\n", "is not named .csv or .tsv", kBare},
  };
  const Scratch scratch;
  for (const auto& [what, name, bytes, reason, header] : cases) {
    CAPTURE(what);
    const auto message = table_refusal(scratch, name, bytes, header);
    CHECK(contains(message, reason));
    CHECK(contains(message, (scratch / name).string()));
  }
  fs::create_directory(scratch / "folder.csv");
  BadLines bad;
  CHECK(contains(thrown<DataError>([&] { read_table(scratch / "folder.csv", {}, bad); }), "it is a folder"));
}

TEST_CASE("table files: bad lines are left out, counted and told, and the others keep their lines", "[unit]") {
  const Scratch scratch;
  const auto csv = scratch.write("t.csv", "a,b\n1,2\n3\nx\"y,4\n\"5\n5\",6\n\"7\n7\" ,8\n9,10\n\n");
  BadLines bad(OnBadLine::skip);
  const auto table = read_table(csv, {.header = true}, bad);
  CHECK(table.rows == Rows{{"1", "2"}, {"5\n5", "6"}, {"9", "10"}});
  CHECK(table.lines == Lines{2, 5, 9});
  CHECK(bad.count() == 4);
  CHECK(contains(bad.sentence(), "4 lines left out: " + csv.string() + ": line 3: expected 2 cells, found 1; "));
  CHECK(contains(bad.sentence(), "t.csv: line 4: a quote"));
  CHECK(contains(bad.sentence(), "t.csv: line 7: a quote"));

  const auto tsv = scratch.write("t.tsv", "1\t2\n3\n4\t5\n");
  CHECK(read_table(tsv, {.format = TableFormat::tsv, .header = false}, bad).lines == Lines{1, 3});
  CHECK(bad.count() == 5);
}

TEST_CASE("table files: skipping does not excuse what spoils the whole table", "[unit]") {
  const Scratch scratch;
  CHECK(contains(table_refusal(scratch, "t.csv", "a,b\n1,\"2\n3,4\n", kBare, OnBadLine::skip), "never closed"));
  CHECK(contains(table_refusal(scratch, "t.csv", "a,a\n1,2\n", kHeader, OnBadLine::skip), "twice"));
  // Else the row behind it would become the header.
  CHECK(contains(table_refusal(scratch, "t.csv", "a\"x,b\n1,2\n3,4\n", kHeader, OnBadLine::skip), "line 1"));
  CHECK(contains(table_refusal(scratch, "t.csv", "a,b\n1\n", kHeader, OnBadLine::skip), "no row is left: 1 line left"));
}

TEST_CASE("table files: whatever stands in quoted cells comes back, each row with its line", "[unit]") {
  const Scratch scratch;
  Drawn drawn("ab,\"\n\t; ");
  for (int trial = 0; trial < 60; ++trial) {
    const size_t width = 1 + drawn.below(4);
    Rows rows(1 + drawn.below(6));
    Lines lines;
    std::string text;
    for (auto& row : rows) {
      lines.push_back(1 + static_cast<size_t>(std::count(text.begin(), text.end(), '\n')));
      for (size_t i = 0; i < width; ++i) {
        row.push_back(drawn.bytes(5));
        text += (i == 0 ? "" : ",") + csv_cell(row.back());
      }
      text += '\n';
    }
    CAPTURE(text);
    const auto table = table_of(scratch, "t.csv", text, kBare);
    REQUIRE(table.rows == rows);
    REQUIRE(table.lines == lines);
  }
}

TEST_CASE("table files: whatever a file holds, rows are equally wide or a data error says why", "[unit]") {
  const Scratch scratch;
  Drawn drawn("ab,,\"\"\n\n\t\r ");
  size_t read = 0, refused = 0;
  for (int trial = 0; trial < 120; ++trial) {
    const auto path = scratch.write(trial % 3 == 0 ? "t.tsv" : "t.csv", drawn.bytes(30));
    BadLines bad(OnBadLine::skip);
    try {
      const auto table = read_table(path, {.format = table_format(path), .header = false}, bad);
      for (const auto& row : table.rows) REQUIRE(row.size() == table.width());
      REQUIRE(std::is_sorted(table.lines.begin(), table.lines.end()));
      ++read;
    } catch (const DataError&) {
      ++refused;
    }
  }
  CHECK(read > 20);
  CHECK(refused > 4);
}

TEST_CASE("table files: a cell of fifty megabytes and a row of a million cells are read", "[unit]") {
  const Scratch scratch;
  const std::string large(50'000'000, 'x');
  CHECK(table_of(scratch, "t.csv", "a,\"" + large + "\"\n", kBare).rows.at(0).at(1).size() == large.size());
  CHECK(table_of(scratch, "t.csv", std::string(999'999, ','), kBare).width() == 1'000'000);
}

TEST_CASE("table files: a column is found by its name or its number", "[unit]") {
  const Scratch scratch;
  const auto named = table_of(scratch, "t.csv", "text,label,3\nx,1,2\n", kHeader);
  CHECK(named.column("label") == 1);
  CHECK(named.column("1") == 0);
  CHECK(named.column("3") == 2);
  const auto unknown = thrown<DataError>([&] { named.column("lable"); });
  CHECK(contains(unknown, "t.csv: there is no column 'lable'; did you mean 'label'?"));
  CHECK(contains(unknown, "there are text, label, 3 (or 1 to 3)"));
  for (const auto* wrong : {"0", "4", "-1", "1.0", "", "99999999999999999999", "Label"}) {
    CAPTURE(wrong);
    CHECK(contains(thrown<DataError>([&] { named.column(wrong); }), "there is no column"));
  }
  const auto bare = table_of(scratch, "u.csv", "x,1\n", kBare);
  CHECK(bare.column("2") == 1);
  CHECK(contains(thrown<DataError>([&] { bare.column("x"); }),
                 "the file has no header: name a column by its number, 1 to 2"));
}

TEST_CASE("table files: numbers are finite, decimal and whole cells", "[unit]") {
  const Scratch scratch;
  const auto table =
      table_of(scratch, "t.csv",
               "1.5,-2\n+3, 1e3 \n007,\t-.5e-2\n,  \nNaN,inf\n-Infinity,1e400\n0x10,\"1,000\"\n1.5kg,1 2\n"
               "+-1,--1\n1e,nan(1)\n1_000,５\n",
               kBare);
  CHECK(table.number(0, 0) == 1.5);
  CHECK(table.number(0, 1) == -2.0);
  CHECK(table.number(1, 0) == 3.0);
  CHECK(table.number(1, 1) == 1000.0);
  CHECK(table.number(2, 0) == 7.0);
  CHECK(table.number(2, 1) == -0.005);
  CHECK(table.number_or_blank(0, 0) == 1.5);
  for (size_t column = 0; column < 2; ++column) {
    CHECK(table.number_or_blank(3, column) == std::nullopt);
    CHECK(
        contains(thrown<DataError>([&] { table.number(3, column); }), "expected a finite number, found a blank cell"));
    for (size_t row = 4; row < table.rows.size(); ++row) {
      CAPTURE(table.rows[row][column]);
      const auto found = "expected a finite number, found '" + table.rows[row][column] + "'";
      CHECK(contains(thrown<DataError>([&] { table.number(row, column); }), found));
      CHECK(contains(thrown<DataError>([&] { table.number_or_blank(row, column); }), found));
    }
  }
  CHECK(contains(thrown<DataError>([&] { table.number(4, 1); }), "t.csv: line 5: column 2: expected"));
}

TEST_CASE("table files: whole numbers keep their range, and errors name the column", "[unit]") {
  const Scratch scratch;
  const auto table =
      table_of(scratch, "t.tsv", "id\tclass\na\t3\nb\t10\nc\t3.0\nd\t9223372036854775808\ne\t\n", kHeader);
  CHECK(table.whole(0, 1, 0, 9) == 3);
  for (size_t row = 1; row < 5; ++row) {
    CAPTURE(row);
    CHECK(
        contains(thrown<DataError>([&] { table.whole(row, 1, 0, 9); }), "expected a whole number from 0 to 9, found"));
  }
  CHECK(contains(thrown<DataError>([&] { table.whole(1, 1, 0, 9); }),
                 "t.tsv: line 3: column 2 ('class'): expected a whole number from 0 to 9, found '10'"));
}

}  // namespace ordo::test
