// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/reverse.h"

namespace ordo::test {

TEST_CASE("reverse: the answer read backwards is the row", "[unit]") {
  const Reverse task({.symbols = 5}, {.seed = 1});
  for (const int64_t size : {1, 2, 7, 30})
    for (uint64_t i = 0; i < 100; ++i) {
      const Example e = task.held_out(3, i, size);
      REQUIRE(std::ssize(e.given) == size);
      REQUIRE(std::ssize(e.asked) == size);
      for (size_t at = 0; at < e.given.size(); ++at) REQUIRE(e.asked[e.asked.size() - 1 - at] == e.given[at]);
    }
}

TEST_CASE("reverse: an example by hand, which never changes", "[unit]") {
  const Reverse task({}, {});
  CHECK(task.text(task.held_out(1, 0, 6)) == "6 6 0 1 1 4 -> 4 1 1 0 6 6");
}

}  // namespace ordo::test
