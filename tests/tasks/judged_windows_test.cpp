// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/judged_windows.h"

#include <numeric>
#include <set>

#include "support/thrown.h"

namespace ordo::test {

namespace {

// Documents of a file, one behind the other.
std::shared_ptr<const TokenSequence> documents_of(const std::vector<int64_t>& sizes) {
  const int64_t total = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  const auto store = TokenStore::of("a.txt", std::vector<int64_t>(static_cast<size_t>(total), 0), 1);
  TokenSequence sequence;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    sequence.add(store, begin, begin + size);
    begin += size;
  }
  return std::make_shared<const TokenSequence>(std::move(sequence));
}

// All windows of an evaluation.
JudgedWindows judged(const std::shared_ptr<const TokenSequence>& tokens, int64_t length, int64_t stride = 0) {
  JudgedWindows windows(tokens);
  const auto stream = evaluation_stream(tokens, {.batch_size = 3, .length = length, .stride = stride});
  while (stream->next()) windows.add(stream->windows());
  return windows;
}

std::vector<int64_t> sizes_of(const std::vector<int64_t>& blocks) {
  std::vector<int64_t> sizes(static_cast<size_t>(blocks.back()) + 1);
  for (const int64_t block : blocks) ++sizes[static_cast<size_t>(block)];
  return sizes;
}

}  // namespace

TEST_CASE("judged windows: of one text neighbours are drawn together, about the third root of all at a time",
          "[unit]") {
  const JudgedWindows windows = judged(documents_of({8 * 64 + 1}), 8);
  REQUIRE(windows.count() == 64);
  const auto [blocks, note] = windows.blocks(1);
  CHECK(sizes_of(blocks) == std::vector<int64_t>(16, 4));
  CHECK(contains(note, "4 neighbours at a time are drawn together (64 windows in 16 blocks)"));
}

TEST_CASE("judged windows: runs of windows that slide span the text that windows side by side would", "[unit]") {
  const JudgedWindows windows = judged(documents_of({8 * 64 + 1}), 8, 2);
  REQUIRE(windows.count() == 253);
  CHECK(sizes_of(windows.blocks(4).of).front() == 16);
  CHECK(windows.from(0) == "a.txt, offset 0");
  CHECK(windows.from(1) == "a.txt, offset 8");  // where the judged part begins
  CHECK(windows.from(2) == "a.txt, offset 10");
}

TEST_CASE("judged windows: runs leave ten or more to be drawn, and fewer windows are drawn one by one, with a warning",
          "[unit]") {
  const auto blocks = [](int64_t count) { return judged(documents_of({8 * count + 1}), 8).blocks(1); };
  CHECK(sizes_of(blocks(29).of) == [] {
    std::vector<int64_t> twos(14, 2);
    twos.push_back(1);
    return twos;
  }());
  const auto [few, note] = blocks(19);
  CHECK(sizes_of(few) == std::vector<int64_t>(19, 1));
  CHECK(contains(note, "19 are too few to be drawn in blocks: the intervals are too narrow"));
}

TEST_CASE("judged windows: of twenty documents the windows that begin in the same one are drawn together", "[unit]") {
  std::vector<int64_t> sizes(20, 8);
  sizes[0] = 24;  // three windows
  sizes[5] = 2;   // within the window of another
  sizes[6] = 6;
  const JudgedWindows windows = judged(documents_of(sizes), 8);
  REQUIRE(windows.count() == 21);
  const auto [blocks, note] = windows.blocks(1);
  std::vector<int64_t> expected(19, 1);
  expected[0] = 3;
  CHECK(sizes_of(blocks) == expected);
  CHECK(contains(note, "(21 windows in 19 blocks)"));
  sizes.pop_back();
  CHECK(contains(judged(documents_of(sizes), 8).blocks(1).note, "next to each other"));  // nineteen are too few
}

}  // namespace ordo::test
