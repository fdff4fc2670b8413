// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/generate/processors.h"

#include <set>
#include <vector>

#include "ordo/core/errors.h"
#include "ordo/core/hash.h"

namespace ordo::test {

namespace {

using ProcessedRow = std::vector<double>;

std::set<int64_t> excluded(const ProcessedRow& row) {
  std::set<int64_t> ids;
  for (size_t id = 0; id < row.size(); ++id)
    if (row[id] == kExcluded) ids.insert(static_cast<int64_t>(id));
  return ids;
}

}  // namespace

TEST_CASE("the repetition penalty divides positive logits and multiplies negative ones, once for each token seen",
          "[unit]") {
  ProcessedRow row{2.0, -2.0, 3.0, 0.0};
  penalise_repetition(row, std::vector<int64_t>{1, 0, 0, 3, 0}, 2.0);
  CHECK(row == ProcessedRow{1.0, -4.0, 3.0, 0.0});
}

TEST_CASE("the repetition penalty does nothing at 1, and nothing to ids of the prompt that may not be chosen",
          "[unit]") {
  ProcessedRow row{2.0, -2.0};
  penalise_repetition(row, std::vector<int64_t>{0, 1}, 1.0);
  CHECK(row == ProcessedRow{2.0, -2.0});
  penalise_repetition(row, std::vector<int64_t>{5}, 2.0);
  CHECK(row == ProcessedRow{2.0, -2.0});
}

TEST_CASE("forbidden are exactly the tokens that would end an n-gram that was there", "[unit]") {
  const int64_t vocab_size = 4;
  size_t found = 0;
  for (uint64_t number = 0; number < 200; ++number) {
    KeyedSequence draw(mix(5, number));
    std::vector<int64_t> text(1 + draw.below(12));
    for (int64_t& id : text) id = static_cast<int64_t>(draw.below(vocab_size));
    for (int64_t n = 0; n <= 4; ++n) {
      std::set<std::vector<int64_t>> seen;
      for (auto first = text.begin(); n > 0 && text.end() - first >= n; ++first) seen.insert({first, first + n});
      std::set<int64_t> expected;
      for (int64_t id = 0; id < vocab_size; ++id) {
        auto longer = text;
        longer.push_back(id);
        const auto size = static_cast<int64_t>(longer.size());
        if (n > 0 && size >= n && seen.contains({longer.end() - n, longer.end()})) expected.insert(id);
      }
      ProcessedRow row(static_cast<size_t>(vocab_size));
      forbid_repeated_ngrams(row, text, n);
      CHECK(excluded(row) == expected);
      found += expected.size();
    }
  }
  CHECK(found > 500);
}

TEST_CASE("a forced first token is all that is left, even where the settings forbid it", "[unit]") {
  const std::vector<int64_t> text{2, 2}, prefix{2, 0};
  const GenerateConfig config{.no_repeat_ngram = 1, .min_new_tokens = 4, .stop = {1}};
  const auto left_at = [&](int64_t fresh) {
    ProcessedRow row(4);
    restrict_choice(row, {.text = text, .fresh = fresh, .prefix = prefix}, config);
    return excluded(row);
  };
  CHECK(left_at(0) == std::set<int64_t>{0, 1, 3});
  CHECK(left_at(1) == std::set<int64_t>{1, 2, 3});
  CHECK(left_at(2) == std::set<int64_t>{1, 2});  // from here the settings speak: 2 was there, 1 would end the answer
  CHECK(left_at(4) == std::set<int64_t>{2});
}

TEST_CASE("a row without any score is known from one that has some", "[unit]") {
  CHECK(nothing_left(ProcessedRow{kExcluded, kExcluded}));
  CHECK_FALSE(nothing_left(ProcessedRow{kExcluded, -1e300}));
}

}  // namespace ordo::test
