// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/text_file.h"

#include <sys/stat.h>

#include "ordo/core/errors.h"
#include "support/packing.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

// Text in UTF-16, low byte first, of ASCII.
std::string utf16(const std::string& ascii) {
  std::string wide;
  for (const char c : ascii) wide += {c, '\0'};
  return wide;
}

std::string reading(const Scratch& scratch, const std::string& name, const std::string& bytes) {
  return read_text(scratch.write(name, bytes));
}

std::string refusal(const Scratch& scratch, const std::string& name, const std::string& bytes) {
  return thrown<DataError>([&] { reading(scratch, name, bytes); });
}

}  // namespace

TEST_CASE("text files: odd but sound files are read as documented", "[unit]") {
  struct Case {
    std::string what, bytes, text;
  };
  const std::vector<Case> cases{
      {"no final line break", "one\ntwo", "one\ntwo"},
      {"one character", "x", "x"},
      {"only blanks", " \n \t\n", " \n \t\n"},
      {"CRLF becomes LF", "a\r\nb\r\n\r\nc", "a\nb\n\nc"},
      {"a lone CR is kept", "a\rb\r\r\nc\r", "a\rb\r\nc\r"},
      {"a byte order mark is dropped", "\xEF\xBB\xBFhello", "hello"},
      {"a second mark is a character", "\xEF\xBB\xBF\xEF\xBB\xBFx", "\xEF\xBB\xBFx"},
      {"a mark inside is a character", "a\xEF\xBB\xBFx", "a\xEF\xBB\xBFx"},
      {"Unicode's line separators are kept", "a\u2028b\u0085c\u2029d\x0B\x0C", "a\u2028b\u0085c\u2029d\x0B\x0C"},
      {"a NUL is a character", std::string("a\0b, and more text", 17), std::string("a\0b, and more text", 17)},
      {"characters of four bytes", "🎈𝄞", "🎈𝄞"},
      {"non-characters are valid", "\uFFFF", "\uFFFF"},
  };
  const Scratch scratch;
  for (const auto& [what, bytes, text] : cases) {
    CAPTURE(what);
    CHECK(reading(scratch, "odd.txt", bytes) == text);
    CHECK(reading(scratch, "odd.txt.gz", gzip_of(bytes)) == text);
    CHECK(reading(scratch, "odd.txt.zst", zstd_of(bytes)) == text);
  }
}

TEST_CASE("text files: what cannot be read is refused with path, place and reason", "[unit]") {
  struct Case {
    std::string what, name, bytes, reason;
  };
  const std::string whole = gzip_of(std::string(5000, 'x') + "the end of a story");
  std::string flipped = whole;
  flipped[flipped.size() - 6] = static_cast<char>(flipped[flipped.size() - 6] ^ 1);  // in the checksum
  const std::vector<Case> cases{
      {"empty", "a.txt", "", "is empty"},
      {"nothing but a mark", "a.txt", "\xEF\xBB\xBF", "is empty"},
      {"Latin-1", "a.txt", "first\nsecond caf\xE9 line\n", "line 2: byte 0xE9 (byte 16 of the file)"},
      {"Latin-1 says how to convert", "a.txt", "caf\xE9", "iconv -f LATIN1"},
      {"overlong form", "a.txt", "a\xC0\xAF", "line 1: byte 0xC0"},
      {"surrogate", "a.txt", "\n\n\xED\xA0\x80", "line 3: byte 0xED"},
      {"cut character at the end", "a.txt", "abc\xE4\xB8", "byte 0xE4"},
      {"UTF-16 with a mark", "a.txt", "\xFF\xFE" + utf16("hello"), "UTF-16"},
      {"UTF-16, high byte first", "a.txt", std::string("\xFE\xFF\0h\0i", 6), "UTF-16"},
      {"UTF-16 without a mark", "a.txt", utf16("hello, this is text"), "iconv -f UTF-16"},
      {"gzip of bad UTF-8", "a.txt.gz", gzip_of("caf\xE9"), "line 1: byte 0xE9"},
      {"gzip of nothing", "a.txt.gz", gzip_of(""), "is empty"},
      {"empty file named .gz", "a.txt.gz", "", "is empty"},
      {"plain text named .gz", "a.txt.gz", "hello", "not gzip data"},
      {"gzip cut short", "a.txt.gz", whole.substr(0, whole.size() - 12), "damaged or cut off"},
      {"gzip without its last bytes", "a.txt.gz", whole.substr(0, whole.size() - 3), "damaged or cut off"},
      {"gzip with a wrong checksum", "a.txt.gz", flipped, "damaged or cut off"},
  };
  const Scratch scratch;
  for (const auto& [what, name, bytes, reason] : cases) {
    CAPTURE(what);
    const auto message = refusal(scratch, name, bytes);
    CHECK(contains(message, reason));
    CHECK(contains(message, (scratch / name).string()));
  }
}

TEST_CASE("text files: a folder, a pipe and a missing file are refused at once", "[unit]") {
  const Scratch scratch;
  fs::create_directory(scratch / "folder.txt");
  REQUIRE(mkfifo((scratch / "pipe.txt").c_str(), 0600) == 0);
  CHECK(contains(thrown<DataError>([&] { read_text(scratch / "folder.txt"); }), "it is a folder"));
  CHECK(contains(thrown<DataError>([&] { read_text(scratch / "pipe.txt"); }), "no regular file"));
  CHECK(contains(thrown<DataError>([&] { read_text(scratch / "absent.txt"); }), "no such file"));
  CHECK(contains(thrown<DataError>([&] { read_text(scratch / "absent.txt.gz"); }), "no such file"));
}

TEST_CASE("text files: more text than allowed is refused, packed or not", "[unit]") {
  const Scratch scratch;
  const std::string text(3'000'000, 'x');
  const auto plain = scratch.write("a.txt", text), packed = scratch.write("a.txt.gz", gzip_of(text));
  CHECK(read_text(plain, text.size()).size() == text.size());
  CHECK(read_text(packed, text.size()).size() == text.size());
  CHECK(contains(thrown<DataError>([&] { read_text(plain, text.size() - 1); }), "more than 3"));
  CHECK(contains(thrown<DataError>([&] { read_text(packed, text.size() - 1); }), "token file"));
}

TEST_CASE("text files: gzip members one after another are one text", "[unit]") {
  const Scratch scratch;
  CHECK(reading(scratch, "two.txt.gz", gzip_of("one ") + gzip_of("two")) == "one two");
}

TEST_CASE("text files: patterns stand for the files there, in the order of their names", "[unit]") {
  const Scratch scratch;
  for (const auto* name : {"b.txt", "a.txt", "c.md", "odd[1].txt"}) scratch.write(name, "x");
  CHECK(expand_paths({scratch / "[ab].txt"}) == std::vector<fs::path>{scratch / "a.txt", scratch / "b.txt"});
  CHECK(expand_paths({scratch / "c.md", scratch / "?.txt"}) ==
        std::vector<fs::path>{scratch / "c.md", scratch / "a.txt", scratch / "b.txt"});
  CHECK(expand_paths({scratch / "odd[1].txt"}) == std::vector<fs::path>{scratch / "odd[1].txt"});
  CHECK(contains(thrown<DataError>([&] { expand_paths({scratch / "*.none"}); }), "no file matches"));
  CHECK(contains(thrown<DataError>([&] { expand_paths({scratch / "a.txt", scratch / "?.txt"}); }), "named twice"));
}

TEST_CASE("text files: lines that are not UTF-8 are left out when that is asked for", "[unit]") {
  const Scratch scratch;
  BadLines bad(OnBadLine::skip);
  const auto path = scratch.write("a.txt", "\xEF\xBB\xBFone\r\ncaf\xE9 \xE8\r\ntwo\n\xFF\n\xE4\xB8");
  CHECK(read_text(path, bad) == "one\n\ntwo\n\n");
  CHECK(bad.count() == 3);
  CHECK(contains(bad.sentence(), "a.txt: line 2: byte 0xE9 (byte 11 of the file)"));
  CHECK(contains(bad.sentence(), "a.txt: line 5: byte 0xE4"));
  const auto none = scratch.write("b.txt", "\xFF\n\xFE\n");
  CHECK(contains(thrown<DataError>([&] { read_text(none, bad); }), "b.txt: no line is left: "));
}

}  // namespace ordo::test
