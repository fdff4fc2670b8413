// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/dialogue_layout.h"

#include <algorithm>
#include <numeric>

#include "ordo/core/hash.h"
#include "ordo/data/byte_tokenizer.h"
#include "ordo/data/char_tokenizer.h"
#include "ordo/ops/fused_loss.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

constexpr int64_t kNone = kIgnore;

const ByteTokenizer& bytes() {
  static const ByteTokenizer tokenizer({}, {});
  return tokenizer;
}

DialogueLayout layout_of(int64_t answer_tokens, TooLong too_long = TooLong::stop, Speaker answers = Speaker::system) {
  return {bytes(), {.answers = answers, .answer_tokens = answer_tokens, .too_long = too_long}};
}

// User and system in turns, of these numbers of tokens.
std::vector<Turn> turns_of(const std::vector<size_t>& sizes) {
  std::vector<Turn> turns;
  for (const size_t size : sizes)
    turns.push_back({.speaker = turns.size() % 2 == 0 ? Speaker::user : Speaker::system,
                     .ids = std::vector<int64_t>(size, static_cast<int64_t>('a' + turns.size()))});
  return turns;
}

}  // namespace

TEST_CASE("dialogue layout: start, then who speaks, what is said and its end; answers and their ends are asked",
          "[unit]") {
  const DialogueLayout layout = layout_of(4);
  const int64_t end = 256, start = 257, user = 258, system = 259;
  CHECK(layout.vocab_size() == 261);
  const std::vector<Turn> turns{{Speaker::user, layout.encode("ab")},
                                {Speaker::system, layout.encode("c")},
                                {Speaker::user, layout.encode("d")},
                                {Speaker::system, layout.encode("ef")}};
  const auto windows = layout.windows(turns, 40);
  REQUIRE(windows.size() == 1);
  const TurnRow row = layout.row(turns, windows[0]);
  CHECK(row.ids ==
        std::vector<int64_t>{start, user, 'a', 'b', end, system, 'c', end, user, 'd', end, system, 'e', 'f'});
  CHECK(row.targets ==
        std::vector<int64_t>{kNone, kNone, kNone, kNone, kNone, 'c', end, kNone, kNone, kNone, kNone, 'e', 'f', end});
}

TEST_CASE("dialogue layout: a full window drops its oldest turns, and judges each answer once", "[unit]") {
  // A window of 16 with 4 kept for an answer has room for 10 tokens of turns before it.
  const DialogueLayout layout = layout_of(4);
  const auto turns = turns_of({2, 1, 2, 1, 3, 2, 1, 1});  // with marks 4 3 4 3 5 4 3 3
  const auto windows = layout.windows(turns, 16);
  // Before answer 1: 4; answer 3: 4 3 4 = 11, so 3 4; answer 5: 3 4 3 5 = 15, so 3 5; answer 7: 5 4 3 = 12, so 4 3.
  const std::vector<std::vector<size_t>> expected{{0, 2, 1}, {1, 4, 3}, {3, 6, 5}, {5, 8, 7}};
  REQUIRE(windows.size() == expected.size());
  for (size_t i = 0; i < windows.size(); ++i)
    CHECK(std::vector<size_t>{windows[i].first, windows[i].end, windows[i].judged} == expected[i]);
  const TurnRow second = layout.row(turns, windows[1]);
  // Turn 1 is an answer too, but judged already.
  CHECK(second.targets[1] == kNone);
  CHECK(std::count_if(second.targets.begin(), second.targets.end(), [](int64_t t) { return t != kNone; }) == 2);
}

TEST_CASE("dialogue layout: of any dialogue, in any window, each answer is asked once, after all that fits before it",
          "[unit]") {
  KeyedSequence draw(7);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<size_t> sizes(2 + draw.below(20));
    for (auto& size : sizes) size = 1 + draw.below(5);
    const auto turns = turns_of(sizes);
    const int64_t length = 16 + static_cast<int64_t>(draw.below(40));
    CAPTURE(trial, length);
    const DialogueLayout layout = layout_of(6);
    std::vector<int> judged(turns.size(), 0);
    for (const auto& window : layout.windows(turns, length)) {
      const TurnRow row = layout.row(turns, window);
      REQUIRE(row.ids.size() == row.targets.size());
      REQUIRE(std::ssize(row.ids) < length);
      int64_t asked = 0;
      for (size_t i = window.judged; i < window.end; ++i) {
        if (turns[i].speaker != Speaker::system) continue;
        ++judged[i];
        asked += std::ssize(turns[i].ids) + 1;
        const auto taken = [&](size_t first) {
          int64_t sum = 0;
          for (size_t j = first; j < i; ++j) sum += turns[j].size();
          return sum;
        };
        REQUIRE(taken(window.first) <= layout.room(length));
        REQUIRE((window.first == 0 || taken(window.first - 1) > layout.room(length)));
      }
      REQUIRE(asked == std::count_if(row.targets.begin(), row.targets.end(), [](int64_t t) { return t != kNone; }));
    }
    for (size_t i = 0; i < turns.size(); ++i) REQUIRE(judged[i] == (turns[i].speaker == Speaker::system ? 1 : 0));
  }
}

TEST_CASE("dialogue layout: the other side can be the one that answers, and one side may speak twice", "[unit]") {
  const DialogueLayout layout = layout_of(4, TooLong::stop, Speaker::user);
  const std::vector<Turn> turns{
      {Speaker::system, {1}}, {Speaker::system, {2}}, {Speaker::user, {3}}, {Speaker::user, {4}}};
  const auto windows = layout.windows(turns, 40);
  REQUIRE(windows.size() == 1);
  CHECK(layout.row(turns, windows[0]).targets ==
        std::vector<int64_t>{kNone, kNone, kNone, kNone, kNone, kNone, kNone, 3, 256, kNone, 4, 256});
  CHECK(layout.asks() == Speaker::system);
}

TEST_CASE("dialogue layout: a turn that is too long is refused, or its first tokens are read and its end is not asked",
          "[unit]") {
  const Turn long_turn{Speaker::user, {1, 2, 3, 4, 5}}, long_answer{Speaker::system, {1, 2, 3, 4, 5}};
  const DialogueLayout stops = layout_of(4), cuts = layout_of(4, TooLong::cut);
  CHECK(stops.longest(Speaker::user, 12) == 4);
  CHECK(stops.longest(Speaker::system, 12) == 3);
  CHECK(stops.longest(Speaker::user, 13) == 5);
  CHECK(stops.fitted(long_turn, 13).ids == long_turn.ids);
  CHECK(contains(thrown<DataError>([&] { stops.fitted(long_turn, 12); }), "a turn of 5 tokens is too long"));
  CHECK(cuts.fitted(long_turn, 12).ids == std::vector<int64_t>{1, 2, 3, 4});
  const Turn cut = cuts.fitted(long_answer, 12);
  CHECK(cut.ids == std::vector<int64_t>{1, 2, 3});
  const std::vector<Turn> turns{{Speaker::user, {9}}, cut};
  CHECK(cuts.row(turns, cuts.windows(turns, 12)[0]).targets ==
        std::vector<int64_t>{kNone, kNone, kNone, kNone, 1, 2, 3, kNone});
}

TEST_CASE("dialogue layout: a window without room for a turn and its answer is refused in words", "[unit]") {
  const DialogueLayout layout = layout_of(4);
  CHECK_FALSE(layout.refuses_length(9));
  CHECK(contains(layout.refuses_length(8).value_or(""), "a window of 8 tokens has no room"));
}

TEST_CASE("dialogue layout: characters that the tokenizer has not become one mark each", "[unit]") {
  const CharTokenizer chars({}, {.text = [] { return std::string("abcä"); }});
  const DialogueLayout layout(chars, {.answer_tokens = 4});
  const int64_t unknown = layout.unknown();
  CHECK(layout.encode("aäb") == std::vector<int64_t>{0, 3, 1});
  CHECK(layout.encode("x猫az") == std::vector<int64_t>{unknown, unknown, 0, unknown});
  CHECK(unknown == chars.vocab_size() + 4);
  CHECK(contains(thrown<DataError>([&] { layout.encode(""); }), "leaves nothing"));
}

}  // namespace ordo::test
