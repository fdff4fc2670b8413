// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/line_blocks.h"

#include <algorithm>
#include <vector>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "support/packing.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

constexpr uint64_t kLongestLine = 1000;

std::vector<LineBlock> blocks_of(const fs::path& path, uint64_t size, const FilePlace& from = {},
                                 uint64_t longest = kLongestLine) {
  std::vector<LineBlock> found;
  LineBlocks blocks(path, from, longest);
  for (LineBlock block; blocks.next(size, block);) found.push_back(block);
  return found;
}

std::string bytes_together(const std::vector<LineBlock>& blocks) {
  std::string text;
  for (const auto& block : blocks) text += block.bytes;
  return text;
}

// Lines of unequal length, of characters of one to three bytes, some blank.
std::string odd_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < i % 7; ++k) text += k % 2 == 0 ? "aé" : "中";
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("line blocks: of any size they are whole lines, and together the file", "[unit]") {
  const Scratch scratch;
  const std::string text = odd_lines(300) + "the last one";
  for (const auto& path : {scratch.write("a.txt", text), scratch.write("a.txt.gz", gzip_of(text)),
                           scratch.write("a.txt.zst", zstd_of(text))})
    for (const uint64_t size : {1, 10, 64, 999, 100'000}) {
      CAPTURE(path, size);
      const auto blocks = blocks_of(path, size);
      CHECK(bytes_together(blocks) == text);
      for (size_t i = 0; i + 1 < blocks.size(); ++i) {
        CHECK(blocks[i].bytes.back() == '\n');
        CHECK(blocks[i + 1].bytes.front() != '\n');
      }
      for (const auto& block : blocks) {
        const std::string filled = block.bytes.substr(0, block.bytes.find_last_not_of('\n') + 1);
        CHECK((filled.size() < size || !contains(filled, "\n")));
      }
    }
}

TEST_CASE("line blocks: from the place of any block the rest is the same, with the numbers of its lines", "[unit]") {
  const Scratch scratch;
  const std::string text = odd_lines(100);
  for (const auto& path : {scratch.write("a.txt", text), scratch.write("a.txt.gz", gzip_of(text)),
                           scratch.write("a.txt.zst", zstd_of(text))}) {
    const auto blocks = blocks_of(path, 50);
    int64_t line = 1;
    for (size_t i = 0; i < blocks.size(); ++i) {
      CHECK(blocks[i].begin.line == line);
      const auto rest = blocks_of(path, 50, blocks[i].begin);
      REQUIRE(rest.size() == blocks.size() - i);
      CHECK(rest.front().bytes == blocks[i].bytes);
      CHECK(bytes_together(rest) == text.substr(blocks[i].begin.offset));
      line += std::count(blocks[i].bytes.begin(), blocks[i].bytes.end(), '\n');
    }
    const FilePlace beyond{.offset = text.size() + 1};
    CHECK(contains(thrown<DataError>([&] { blocks_of(path, 50, beyond); }), "ends before byte"));
  }
}

TEST_CASE("line blocks: they end behind a blank line where there is one in the second half", "[unit]") {
  const Scratch scratch;
  const auto ends_of = [&](const std::string& text) {
    std::vector<size_t> ends;
    for (const auto& block : blocks_of(scratch.write("a.txt", text), 20)) ends.push_back(block.bytes.size());
    return ends;
  };
  CHECK(ends_of("first\nsecond\n\nthird\nfourth\n") == std::vector<size_t>{14, 13});
  CHECK(ends_of("first\r\nsecond\r\n\r\nthird\r\n") == std::vector<size_t>{17, 7});
  CHECK(ends_of("one\nsecond\nthird...\n\n\nfourth\n") == std::vector<size_t>{22, 7});
  CHECK(ends_of("one\n\nsecond\nthird\nfourth\n") == std::vector<size_t>{18, 7});
}

TEST_CASE("line blocks: a line that is too long is cut between characters, and no CRLF is parted", "[unit]") {
  const Scratch scratch;
  std::string line;
  while (line.size() < 2500) line += "中";
  const std::string text = "short\n" + line + "\nend\n";
  const auto blocks = blocks_of(scratch.write("a.txt", text), 100, {}, 100);
  CHECK(bytes_together(blocks) == text);
  CHECK(blocks[1].cut);
  CHECK(blocks[1].bytes.size() == 99);
  CHECK(blocks.back().bytes.ends_with("中\nend\n"));
  CHECK(blocks.back().begin.line == 2);
  for (const auto& block : blocks) CHECK(valid_utf8(block.bytes));

  const auto broken = blocks_of(scratch.write("b.txt", std::string(99, 'x') + "\r\ny"), 100, {}, 100);
  REQUIRE(broken.size() == 2);
  CHECK(broken[0].bytes == std::string(99, 'x'));
  CHECK(bytes_together(blocks_of(scratch.write("c.txt", std::string(1000, '\x80')), 100, {}, 100)).size() == 1000);
}

TEST_CASE("line blocks: a mark at the start is dropped and counted; empty files and UTF-16 are refused", "[unit]") {
  const Scratch scratch;
  const auto marked = blocks_of(scratch.write("a.txt", "\xEF\xBB\xBFone\ntwo\n"), 4);
  REQUIRE(marked.size() == 2);
  CHECK(marked[0].bytes == "one\n");
  CHECK(marked[0].begin.offset == 3);
  CHECK(marked[1].begin.offset == 7);
  for (const std::string bytes : {"", "\xEF\xBB\xBF"})
    CHECK(contains(thrown<DataError>([&] { blocks_of(scratch.write("b.txt", bytes), 4); }), "b.txt is empty"));
  CHECK(contains(thrown<DataError>([&] { blocks_of(scratch.write("c.txt", "\xFF\xFEh"), 4); }), "UTF-16"));
}

}  // namespace ordo::test
