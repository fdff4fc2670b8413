// SPDX-License-Identifier: Apache-2.0
// Why a pair is only separated, which interval its difference has, and what the headline says of both.
#include "support/catch.h"

#include "made_study.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

const std::vector<double> kLow{0.50, 0.52, 0.49}, kHigh{0.97, 0.99, 0.98};

MadeStudy against_none(const std::vector<double>& none, const std::vector<double>& rope) {
  MadeStudy study("accuracy", {"none", "rope"}, static_cast<int64_t>(none.size()));
  study.plan.study.compare.against = "none";
  study.give("none", none).give("rope", rope);
  return study;
}

// So many seeds; every run has items that average to its value.
MadeStudy hierarchical(int64_t seeds) {
  MadeStudy study("accuracy", {"none", "rope"}, seeds);
  study.plan.study.compare.against = "none";
  study.plan.study.compare.interval = IntervalKind::hierarchical;
  for (const char* level : {"none", "rope"}) {
    std::vector<double> values;
    for (int64_t seed = 1; seed <= seeds; ++seed) {
      auto& items = study.row(level, seed).item_accuracy;
      const int64_t right = level == std::string("rope") ? 14 + seed % 2 : 8 + seed % 3;
      for (int64_t item = 0; item < 20; ++item) items.push_back(item < right ? 1.0 : 0.0);
      values.push_back(static_cast<double>(right) / 20.0);
    }
    study.give(level, values);
  }
  return study;
}

bool notes_say(const Summary& summary, const std::string& part) {
  return std::any_of(summary.notes.begin(), summary.notes.end(), [&](const auto& n) { return contains(n, part); });
}

}  // namespace

TEST_CASE("pairs: hierarchical intervals begin at ten seeds, below they are t-intervals and that is said", "[unit]") {
  const auto few = hierarchical(9), enough = hierarchical(10);
  CHECK(few.pair("rope").interval.kind == "t");
  CHECK(notes_say(few.summary(), "hierarchical intervals cover too little below 10 seeds"));
  CHECK_FALSE(notes_say(few.summary(), "is not a mean over test items"));
  CHECK(enough.pair("rope").interval.kind == "hierarchical");
  CHECK_FALSE(notes_say(enough.summary(), "hierarchical"));
  auto itemless = enough;
  for (auto& row : itemless.results.rows) row.item_accuracy.clear();
  CHECK(itemless.pair("rope").interval.kind == "t");
  CHECK(notes_say(itemless.summary(), "accuracy is not a mean over test items"));
}

TEST_CASE("pairs: without an interval the mean difference must be one that matters", "[unit]") {
  auto modes = against_none({0.50, 0.51, 0.49, 0.5, 0.5}, {0.99, 0.98, 0.52, 0.99, 0.97});
  auto diverged = against_none(kLow, kHigh);
  diverged.diverge("none", 2);
  for (auto* study : {&modes, &diverged}) {
    study->plan.study.compare.smallest_difference = 0.1;
    CHECK(study->pair("rope").verdict == "separated");
    study->plan.study.compare.smallest_difference = 0.6;
    CHECK(study->pair("rope").verdict == "not told apart");
    CHECK(contains(study->pair("rope").why, "is none that matters (0.6)"));
  }
}

TEST_CASE("pairs: the headline says why levels are only separated", "[unit]") {
  CHECK(contains(against_none(kLow, kHigh).summary().headline, "3 seeds: p cannot fall below 0.25"));

  auto diverged = against_none({0.50, 0.52, 0.49, 0.5, 0.51, 0.5, 0.5}, {0.97, 0.99, 0.98, 0.97, 0.98, 0.96, 0.97});
  diverged.diverge("none", 2);
  REQUIRE(diverged.pair("rope").verdict == "separated");
  CHECK(contains(diverged.summary().headline, "1 run of none diverged: a mean without it would flatter"));
  CHECK_FALSE(contains(diverged.summary().headline, "cannot fall below"));

  const auto modes = against_none({0.50, 0.51, 0.49, 0.5, 0.5}, {0.99, 0.98, 0.52, 0.99, 0.97});
  CHECK(contains(modes.summary().headline, "the seeds of rope fall into two groups"));
}

TEST_CASE("pairs: with seeds enough a separated level is one whose corrected p is too large", "[unit]") {
  MadeStudy study("accuracy", {"none", "a", "b", "c"}, 6);
  study.plan.study.compare.against = "none";
  study.plan.study.compare.correction = Correction::benjamini_hochberg;
  study.give("none", {0.50, 0.51, 0.49, 0.50, 0.52, 0.48}).give("a", {0.97, 0.99, 0.96, 0.97, 0.98, 0.95});
  study.give("b", {0.51, 0.50, 0.50, 0.49, 0.52, 0.47}).give("c", {0.49, 0.52, 0.48, 0.51, 0.51, 0.49});
  REQUIRE(study.pair("a").verdict == "separated");
  CHECK(contains(study.pair("a").why, "p 0.0938 is not below 0.05"));
  CHECK(contains(study.summary().headline, "6 seeds, Benjamini-Hochberg-corrected p at most 0.0938"));
  CHECK_FALSE(contains(study.summary().headline, "cannot fall below"));
}

TEST_CASE("pairs: levels that are each behind another one have no leader", "[unit]") {
  MadeStudy study("accuracy", {"a", "b", "c"}, 9);
  const std::vector<double> unset(3, 0.0);
  const auto nine = [&](const std::vector<double>& first, const std::vector<double>& second,
                        const std::vector<double>& third) {
    std::vector<double> all;
    for (const auto* part : {&first, &second, &third}) all.insert(all.end(), part->begin(), part->end());
    return all;
  };
  study.give("a", nine(kHigh, unset, kLow)).give("b", nine(kLow, kHigh, unset)).give("c", nine(unset, kLow, kHigh));
  for (const int64_t seed : {1, 2, 3}) {
    study.lose("c", seed);
    study.lose("a", seed + 3);
    study.lose("b", seed + 6);
  }
  CHECK(contains(study.summary().headline, "each of a, b and c is behind another one"));
  CHECK(contains(study.summary().headline, "3 of 3 pairs told apart"));
}

}  // namespace ordo::test
