// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/majority.h"

#include <algorithm>

#include "tasks/labels.h"

namespace ordo::test {

TEST_CASE("majority: the answer stands more often in the row than every other symbol", "[unit]") {
  for (const int64_t symbols : {2, 3, 10}) {
    const Majority task({.symbols = symbols}, {.seed = 1});
    for (const int64_t size : {1, 2, 7, 40})
      for (uint64_t i = 0; i < 50; ++i) {
        const Example e = task.held_out(3, i, size);
        REQUIRE(std::ssize(e.given) == size);
        REQUIRE(e.asked.size() == 1);
        const auto votes = [&](int64_t symbol) { return std::count(e.given.begin(), e.given.end(), symbol); };
        for (int64_t other = 0; other < symbols; ++other)
          REQUIRE((other == e.asked.front() || votes(other) < votes(e.asked.front())));
      }
  }
}

TEST_CASE("majority: no answer is favoured at any length, even or odd", "[unit]") {
  for (const int64_t symbols : {2, 3}) {
    const Majority task({.symbols = symbols}, {});
    for (const int64_t size : {1, 2, 8, 9, 40})
      CHECK(share_of_favourite(task, size, 2000) < share_by_chance(static_cast<double>(symbols), 2000));
  }
}

TEST_CASE("majority: an example by hand, which never changes", "[unit]") {
  const Majority task({}, {});
  CHECK(task.text(task.held_out(1, 0, 7)) == "0 0 0 1 1 0 1 -> 0");
}

}  // namespace ordo::test
