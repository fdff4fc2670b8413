// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/sort.h"

#include <algorithm>

namespace ordo::test {

TEST_CASE("sort: the answer ascends and holds every symbol as often as the row", "[unit]") {
  const Sort task({.symbols = 6}, {.seed = 1});
  for (const int64_t size : {1, 2, 7, 30})
    for (uint64_t i = 0; i < 100; ++i) {
      const Example e = task.held_out(3, i, size);
      REQUIRE(std::ssize(e.given) == size);
      REQUIRE(std::ssize(e.asked) == size);
      for (size_t at = 1; at < e.asked.size(); ++at) REQUIRE(e.asked[at - 1] <= e.asked[at]);
      for (int64_t symbol = 0; symbol < 6; ++symbol)
        REQUIRE(std::count(e.given.begin(), e.given.end(), symbol) ==
                std::count(e.asked.begin(), e.asked.end(), symbol));
    }
}

TEST_CASE("sort: an example by hand, which never changes", "[unit]") {
  const Sort task({}, {});
  CHECK(task.text(task.held_out(1, 0, 6)) == "8 6 2 3 7 0 -> 0 2 3 6 7 8");
}

}  // namespace ordo::test
