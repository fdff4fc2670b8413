// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/associative_recall.h"

#include <map>
#include <set>

#include "support/thrown.h"
#include "tasks/labels.h"

namespace ordo::test {

TEST_CASE("associative_recall: the answer stands behind the key that comes again", "[unit]") {
  const AssociativeRecall task({.keys = 20, .values = 4}, {.seed = 1});
  for (const int64_t size : {1, 2, 7, 20}) {
    std::set<size_t> sought;
    for (uint64_t i = 0; i < 300; ++i) {
      const Example e = task.held_out(3, i, size);
      REQUIRE(std::ssize(e.given) == 2 * size + 1);
      std::map<int64_t, int64_t> pairs;
      for (size_t at = 0; at + 1 < e.given.size(); at += 2) {
        REQUIRE(e.given[at] >= 4);
        REQUIRE(e.given[at + 1] < 4);
        REQUIRE(pairs.emplace(e.given[at], e.given[at + 1]).second);  // no key twice
        if (e.given[at] == e.given.back()) sought.insert(at / 2);
      }
      REQUIRE(e.asked == std::vector<int64_t>{pairs.at(e.given.back())});
    }
    CHECK(std::ssize(sought) == size);  // every place is asked for
  }
}

TEST_CASE("associative_recall: no value is favoured", "[unit]") {
  const AssociativeRecall task({.values = 4}, {});
  for (const int64_t size : {1, 8}) CHECK(share_of_favourite(task, size, 2000) < share_by_chance(4, 2000));
}

TEST_CASE("associative_recall: more pairs than keys are refused, with the setting to raise", "[unit]") {
  const AssociativeRecall task({.keys = 20}, {});
  CHECK(task.row_length(20) == 42);  // and the closing ?
  const auto refusal = thrown<ConfigError>([&] { (void)task.row_length(21); });
  CHECK(contains(refusal, "21 pairs need as many different keys, and task.keys is 20; raise it"));
}

TEST_CASE("associative_recall: an example by hand, which never changes", "[unit]") {
  const AssociativeRecall task({}, {});
  CHECK(task.text(task.held_out(1, 0, 3)) == "ae 1 aa 1 y 4 y -> 4");
}

}  // namespace ordo::test
