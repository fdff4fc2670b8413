// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/lag.h"

#include "ordo/ops/fused_loss.h"

namespace ordo::test {

TEST_CASE("lag: each symbol is asked for again, a fixed number of places later, and nothing before", "[unit]") {
  const Lag task({.symbols = 5, .lag = 3}, {.seed = 1});
  for (const int64_t size : {4, 5, 30})
    for (uint64_t i = 0; i < 50; ++i) {
      const Example e = task.held_out(3, i, size);
      REQUIRE(std::ssize(e.given) == size);
      REQUIRE(std::ssize(e.asked) == size);
      for (size_t at = 0; at < e.asked.size(); ++at) REQUIRE(e.asked[at] == (at < 3 ? kIgnore : e.given[at - 3]));
    }
}

TEST_CASE("lag: a row is longer than the lag", "[unit]") { CHECK(Lag({.lag = 3}, {}).least_size() == 4); }

TEST_CASE("lag: an example by hand, which never changes", "[unit]") {
  const Lag task({.lag = 2}, {});
  CHECK(task.text(task.held_out(1, 0, 6)) == "6 6 0 1 1 4 -> . . 6 6 0 1");
}

}  // namespace ordo::test
