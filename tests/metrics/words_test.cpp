// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/words.h"

#include "metrics/stored.h"

namespace ordo::test {

namespace {

std::u32string few_letters(uint64_t& state, size_t longest) {
  const auto next = [&state] { return state = state * 6364136223846793005U + 1442695040888963407U, state >> 33; };
  std::u32string text(next() % (longest + 1), U'a');
  for (char32_t& letter : text) letter += static_cast<char32_t>(next() % 3);
  return text;
}

}  // namespace

TEST_CASE("words: lower case is Python's, final sigma and dotted I included", "[golden]") {
  for (const Json& c : stored("tokens")) CHECK(lowered(c.at("text").get<std::string>()) == c.at("lower"));
}

TEST_CASE("words: bytes that are no text stand for themselves", "[unit]") {
  CHECK(lowered("A\xFF\xC3(\xE4\xB8") == "a\xFF\xC3(\xE4\xB8");
  CHECK(split_words("\xFF\xC3 \xE4\xB8\u3000z") == std::vector<std::string>{"\xFF\xC3", "\xE4\xB8", "z"});
}

TEST_CASE("words: white space is Unicode's, at the ends and between", "[unit]") {
  const std::string text = "\u3000 one\u00a0two\u2028\x1fthree\u200bfour \u0085";
  CHECK(split_words(text) == std::vector<std::string>{"one", "two", "three\u200bfour"});
  CHECK(stripped(text) == "one\u00a0two\u2028\x1fthree\u200bfour");
  CHECK(stripped_right(text) == "\u3000 one\u00a0two\u2028\x1fthree\u200bfour");
  CHECK(stripped(" \t ").empty());
  CHECK(split_words("").empty());
}

TEST_CASE("words: n-grams are counted, intersected and united", "[unit]") {
  const GramCounts a = count_grams(U"abab", 2), b = count_grams(U"abba", 2);
  REQUIRE(a.size() == 2);
  CHECK(a[0].gram == U"ab");
  CHECK(a[0].count == 2);
  CHECK(total_count(a) == 3);
  CHECK(shared_count(a, b) == 2);
  const GramCounts both = larger_counts(a, b);
  CHECK(total_count(both) == 4);
  CHECK(both.size() == 3);
  CHECK(count_grams(U"ab", 3).empty());
  CHECK(shared_count({}, b) == 0);
}

TEST_CASE("words: edit distance and common subsequence keep their laws", "[unit]") {
  CHECK(levenshtein(U"kitten", U"sitting") == 3);
  CHECK(common_subsequence(U"AGGTAB", U"GXTXAYB") == 4);
  uint64_t state = 7;
  for (int round = 0; round < 200; ++round) {
    const std::u32string a = few_letters(state, 9), b = few_letters(state, 9), c = few_letters(state, 9);
    const int64_t distance = levenshtein(a, b), common = common_subsequence(a, b);
    CHECK(distance == levenshtein(b, a));
    CHECK(distance <= levenshtein(a, c) + levenshtein(c, b));
    CHECK((distance == 0) == (a == b));
    CHECK(common == common_subsequence(b, a));
    // Without substitutions the distance is |a| + |b| - 2 · common; a substitution saves at most one of two edits.
    const int64_t apart = std::ssize(a) + std::ssize(b) - 2 * common;
    CHECK(distance <= apart);
    CHECK(2 * distance >= apart);
  }
}

}  // namespace ordo::test
