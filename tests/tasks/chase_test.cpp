// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/chase.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "support/thrown.h"

namespace ordo::test {

namespace {

constexpr Language kLanguages[] = {Language::english, Language::chinese};
constexpr int64_t kNouns = 12;  // the first symbols

Chase chase_task(Language language, bool bare = false) {
  return Chase({.language = language, .bare = bare}, {.seed = 1, .causal = false});
}

std::vector<int64_t> sorted(std::vector<int64_t> words) {
  std::sort(words.begin(), words.end());
  return words;
}

std::vector<int64_t> nouns_of(const Example& sentence) {
  std::vector<int64_t> nouns;
  std::copy_if(sentence.given.begin(), sentence.given.end(), std::back_inserter(nouns),
               [](int64_t word) { return word < kNouns; });
  return nouns;
}

int64_t patient_of(const Example& sentence) {
  const auto nouns = nouns_of(sentence);
  return nouns[0] == sentence.asked[0] ? nouns[1] : nouns[0];
}

// How often the agent is the noun with the smaller number, and of how many.
struct Share {
  double smaller = 0.0, all = 0.0;
  bool is_half() const { return std::abs(smaller - all / 2.0) <= 4.5 * std::sqrt(all) / 2.0; }
};

}  // namespace

TEST_CASE("who chased whom: held-out sentences come in twins of the same words, with agent and patient swapped",
          "[unit]") {
  for (const Language language : kLanguages) {
    const Chase task = chase_task(language);
    REQUIRE(task.twins() == 2);
    for (const int64_t size : {task.least_size(), int64_t{10}, int64_t{16}, int64_t{64}})
      for (uint64_t pair = 0; pair < 200; ++pair) {
        const Example one = task.held_out(5, 2 * pair, size), other = task.held_out(5, 2 * pair + 1, size);
        CAPTURE(task.text(one), task.text(other));
        REQUIRE(std::ssize(one.given) == size);
        REQUIRE(std::ssize(other.given) == size);
        REQUIRE(sorted(one.given) == sorted(other.given));
        REQUIRE(one.given != other.given);
        REQUIRE(other.asked[0] == patient_of(one));
        REQUIRE(one.asked[0] == patient_of(other));
      }
  }
}

TEST_CASE("who chased whom: a sentence names two of twelve, one of whom is the answer", "[unit]") {
  for (const Language language : kLanguages) {
    const Chase task = chase_task(language);
    std::set<int64_t> agents;
    for (uint64_t i = 0; i < 400; ++i) {
      const Example sentence = task.held_out(3, i, 16);
      const auto nouns = nouns_of(sentence);
      REQUIRE(nouns.size() == 2);
      REQUIRE(nouns[0] != nouns[1]);
      REQUIRE(std::count(nouns.begin(), nouns.end(), sentence.asked[0]) == 1);
      agents.insert(sentence.asked[0]);
    }
    CHECK(std::ssize(agents) == kNouns);
  }
}

TEST_CASE("who chased whom: in training no word tells which of the two it was, nor does the order of the two alone",
          "[unit]") {
  for (const Language language : kLanguages) {
    const Chase task = chase_task(language);
    std::map<int64_t, Share> by_word;
    Share first;  // the agent stands first: half of the sentences are passive
    for (uint64_t i = 0; i < 20'000; ++i) {
      const Example sentence = task.training_example(9, i, 16);
      const double smaller = sentence.asked[0] < patient_of(sentence) ? 1.0 : 0.0;
      for (const int64_t word : std::set<int64_t>(sentence.given.begin(), sentence.given.end())) {
        if (word < kNouns) continue;
        by_word[word].smaller += smaller;
        by_word[word].all += 1.0;
      }
      first.smaller += nouns_of(sentence)[0] == sentence.asked[0] ? 1.0 : 0.0;
      first.all += 1.0;
    }
    CHECK(by_word.size() + kNouns == task.symbols().size());
    for (const auto& [word, share] : by_word) {
      CAPTURE(task.symbols()[static_cast<size_t>(word)], share.smaller, share.all);
      CHECK(share.is_half());
    }
    CHECK(first.is_half());
  }
}

TEST_CASE("who chased whom: three bare words are a mirror: one twin is the other read backwards", "[unit]") {
  for (const Language language : kLanguages) {
    const Chase task = chase_task(language, /*bare=*/true);
    for (uint64_t pair = 0; pair < 100; ++pair) {
      const Example one = task.held_out(5, 2 * pair, 3);
      Example other = task.held_out(5, 2 * pair + 1, 3);
      REQUIRE(one.given.size() == 3);
      REQUIRE(one.given[0] == one.asked[0]);
      std::reverse(other.given.begin(), other.given.end());
      REQUIRE(one.given == other.given);
    }
    CHECK(task.mirror());
    CHECK(contains(thrown<ConfigError>([&] { task.row_length(7); }), "every sentence has 3 words"));
    CHECK_FALSE(chase_task(language).mirror());
  }
  // The closing "?" tells the ends apart.
  CHECK_FALSE(Chase({.drawn = {.read = ReadAt::end}, .bare = true}, {.causal = false}).mirror());
}

TEST_CASE("who chased whom: sentences by hand, which never change", "[unit]") {
  const Chase english = chase_task(Language::english), chinese = chase_task(Language::chinese);
  CHECK(english.text(english.held_out(1, 0, 12)) == "today a wolf is greeted by a brown dog slowly this autumn -> dog");
  CHECK(english.text(english.held_out(1, 1, 12)) ==
        "today a dog is greeted by a brown wolf slowly this autumn -> wolf");
  CHECK(chinese.text(chinese.held_out(1, 0, 9)) == "今天 慢慢地 一只 老虎 被 一只 棕色的 狗 叫住 -> 狗");
  const Chase bare = chase_task(Language::chinese, /*bare=*/true);
  CHECK(bare.text(bare.held_out(1, 0, 3)) == "狗 叫住 老虎 -> 狗");
}

}  // namespace ordo::test
