// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/json_lines.h"

#include <utility>

#include "ordo/core/errors.h"
#include "support/packing.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

using Values = std::vector<std::pair<size_t, std::string>>;  // line, value

Values values_in(const fs::path& path, BadLines& bad) {
  Values values;
  read_json_lines(path, bad,
                  [&](const JsonView& value, size_t line) { values.emplace_back(line, json_line(value.raw())); });
  return values;
}

std::string json_refusal(const Scratch& scratch, const std::string& name, const std::string& bytes) {
  BadLines bad;
  return thrown<DataError>([&] { values_in(scratch.write(name, bytes), bad); });
}

}  // namespace

TEST_CASE("JSON lines: odd but sound files give one value a line", "[unit]") {
  struct Case {
    std::string what, bytes;
    Values values;
  };
  const std::vector<Case> cases{
      {"plain", "{\"a\":1}\n[2]\n", {{1, "{\"a\":1}"}, {2, "[2]"}}},
      {"no final line break", "1\n2", {{1, "1"}, {2, "2"}}},
      {"CRLF", "1\r\n\"x\"\r\n", {{1, "1"}, {2, "\"x\""}}},
      {"a byte order mark", "\xEF\xBB\xBF{}\n", {{1, "{}"}}},
      {"blanks around", " \t{ \"a\" : 1 }\t \nnull\n", {{1, "{\"a\":1}"}, {2, "null"}}},
      {"a lone CR between values is a blank", "[1,\r2]\r\n", {{1, "[1,2]"}}},
      {"Unicode's line separators in a string", "\"a\u2028b\u0085c\"\n1", {{1, "\"a\u2028b\u0085c\""}, {2, "1"}}},
      {"an escaped line break", "\"a\\nb\"\n", {{1, "\"a\\nb\""}}},
  };
  const Scratch scratch;
  for (const auto& [what, bytes, values] : cases) {
    CAPTURE(what);
    BadLines bad;
    CHECK(values_in(scratch.write("a.jsonl", bytes), bad) == values);
    CHECK(values_in(scratch.write("a.jsonl.gz", gzip_of(bytes)), bad) == values);
    CHECK(values_in(scratch.write("a.jsonl.zst", zstd_of(bytes)), bad) == values);
  }
}

TEST_CASE("JSON lines: what is not strict is refused with file, line and column", "[unit]") {
  struct Case {
    std::string what, bytes, reason;
  };
  const std::vector<Case> cases{
      {"a blank line inside", "1\n\n2\n", "a.jsonl: line 2: expected a JSON value, found a blank line"},
      {"a blank line at the end", "1\n \r\n", "line 2: expected a JSON value, found a blank line"},
      {"only blanks", "  \n", "line 1: expected a JSON value, found a blank line"},
      {"two values", "1\n2 3\n", "a.jsonl: line 2: not valid JSON at column 3"},
      {"values parted by a lone CR", "{}\r{}\n", "line 1: not valid JSON at column 4"},
      {"a value over two lines", "[1,\n2]\n", "line 1: not valid JSON at column"},
      {"NaN", "1\n2\n[NaN]\n", "line 3: not valid JSON at column"},
      {"infinity", "-Infinity\n", "line 1: not valid JSON"},
      {"a number out of range", "1e400\n", "line 1: not valid JSON"},
      {"a comma at the end", "[1,]\n", "line 1: not valid JSON"},
      {"a key twice", "{\"a\":1,\"a\":2}\n", "key 'a' appears twice"},
      {"single quotes", "{'a': 1}\n", "line 1: not valid JSON"},
      {"an unclosed quote", "\"a\n\"b\"\n", "line 1: not valid JSON"},
      {"a tab in a string", "\"a\tb\"\n", "line 1: not valid JSON"},
      {"a NUL", std::string("[1,2,3,4,5,6,7]\n\"a\0b\"\n", 22), "line 2: not valid JSON at column 3: a NUL byte"},
      {"deep nesting", std::string(200, '['), "nests deeper than 100"},
      {"a lone surrogate", "\"\\ud800\"\n", "line 1: not valid JSON"},
      {"empty", "", "is empty"},
      {"UTF-16", std::string("\xFF\xFE{\0}\0", 6), "looks like UTF-16"},
      {"Latin-1", "1\n\"caf\xE9\"\n", "line 2: byte 0xE9"},
  };
  const Scratch scratch;
  for (const auto& [what, bytes, reason] : cases) {
    CAPTURE(what);
    const auto message = json_refusal(scratch, "a.jsonl", bytes);
    CHECK(contains(message, reason));
    CHECK(contains(message, (scratch / "a.jsonl").string()));
    CHECK(!contains(message, "line 1, "));
  }
}

TEST_CASE("JSON lines: fields are taken with file, line, path, expected and found", "[unit]") {
  const Scratch scratch;
  const auto path = scratch.write("a.jsonl", R"({"text": "x", "tags": ["a", "b"], "at": [1, 2.5], "n": 3}
{"text": 7, "tags": ["a", 1], "at": "no", "n": 3.5}
)");
  BadLines bad;
  std::vector<std::string> wrong;
  read_json_lines(path, bad, [&](const JsonView& value, size_t line) {
    if (line == 1) {
      CHECK(value.at("text").text() == "x");
      CHECK(texts_of(value.at("tags")) == std::vector<std::string>{"a", "b"});
      CHECK(numbers_of(value.at("at")) == std::vector<double>{1.0, 2.5});
      CHECK(value.at("n").integer(0, 9) == 3);
      return;
    }
    wrong = {thrown<DataError>([&] { value.at("text").text(); }),
             thrown<DataError>([&] { texts_of(value.at("tags")); }),
             thrown<DataError>([&] { numbers_of(value.at("at")); }),
             thrown<DataError>([&] { value.at("n").integer(0, 9); }), thrown<DataError>([&] { value.at("m"); })};
  });
  const std::string place = path.string() + ": line 2: ";
  CHECK(wrong == std::vector<std::string>{
                     place + "text: expected a string, found 7", place + "tags[1]: expected a string, found 1",
                     place + "at: expected an array, found \"no\"",
                     place + "n: expected a whole number from 0 to 9, found 3.5", place + "'m' is missing"});
}

TEST_CASE("JSON lines: bad lines and bad fields are left out, counted and told", "[unit]") {
  const Scratch scratch;
  const auto path = scratch.write("a.jsonl", "{\"n\":1}\n{\"n\":\n\n{\"n\":\"x\"}\n[5]\n{\"n\":6}");
  BadLines bad(OnBadLine::skip);
  std::vector<std::pair<size_t, double>> taken;
  read_json_lines(path, bad, [&](const JsonView& value, size_t line) {
    const double n = value.at("n").number();
    taken.emplace_back(line, n);
  });
  CHECK(taken == std::vector<std::pair<size_t, double>>{{1, 1.0}, {6, 6.0}});
  CHECK(bad.count() == 4);
  CHECK(contains(bad.sentence(), "4 lines left out: "));
  CHECK(contains(bad.sentence(), "a.jsonl: line 4: n: expected a finite number, found \"x\"; and 1 more"));

  const auto none = scratch.write("b.jsonl", "x\ny\n");
  BadLines all(OnBadLine::skip);
  CHECK(contains(thrown<DataError>([&] { values_in(none, all); }), "b.jsonl: no line is left: 2 lines left out"));
}

TEST_CASE("JSON lines: a line that is not UTF-8 is a bad line", "[unit]") {
  const Scratch scratch;
  BadLines bad(OnBadLine::skip);
  const auto values = values_in(scratch.write("a.jsonl", "1\n\"caf\xE9\"\n2\n"), bad);
  CHECK(values == Values{{1, "1"}, {3, "2"}});
  CHECK(contains(bad.sentence(), "1 line left out: "));
  CHECK(contains(bad.sentence(), "a.jsonl: line 2: byte 0xE9 (byte 6 of the file)"));
}

}  // namespace ordo::test
