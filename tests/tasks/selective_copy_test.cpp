// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/selective_copy.h"

#include <set>

namespace ordo::test {

TEST_CASE("selective_copy: the row without its blanks is the answer", "[unit]") {
  const SelectiveCopy task({.symbols = 5, .copied = 3}, {.seed = 1});
  for (const int64_t size : {3, 4, 30}) {
    std::set<size_t> places;
    for (uint64_t i = 0; i < 200; ++i) {
      const Example e = task.held_out(3, i, size);
      REQUIRE(std::ssize(e.given) == size);
      std::vector<int64_t> left;
      for (size_t at = 0; at < e.given.size(); ++at) {
        if (e.given[at] == 5) continue;
        left.push_back(e.given[at]);
        places.insert(at);
      }
      REQUIRE(left == e.asked);
      REQUIRE(left.size() == 3);
    }
    CHECK(std::ssize(places) == size);
  }
}

TEST_CASE("selective_copy: the answer is as long in every row, and no row is shorter", "[unit]") {
  const SelectiveCopy task({.copied = 3}, {});
  CHECK(task.asked_length(40) == 3);
  CHECK(task.least_size() == 3);
}

TEST_CASE("selective_copy: an example by hand, which never changes", "[unit]") {
  const SelectiveCopy task({}, {});
  CHECK(task.text(task.held_out(1, 0, 9)) == "6 . . . 6 0 . . 1 -> 6 6 0 1");
}

}  // namespace ordo::test
