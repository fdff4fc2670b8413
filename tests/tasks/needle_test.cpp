// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/needle.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tasks/labels.h"

namespace ordo::test {

TEST_CASE("needle: the answer stands behind the one place of the key that comes again", "[unit]") {
  const Needle task({.symbols = 5, .needles = 3}, {.seed = 1});
  for (const int64_t size : {6, 7, 30}) {
    std::set<std::ptrdiff_t> places;
    for (uint64_t i = 0; i < 500; ++i) {
      const Example e = task.held_out(3, i, size);
      REQUIRE(std::ssize(e.given) == size + 1);
      const auto end = e.given.end() - 1;
      for (const int64_t key : {5, 6, 7}) {
        REQUIRE(std::count(e.given.begin(), end, key) == 1);
        const auto at = std::find(e.given.begin(), end, key);
        REQUIRE(end - at >= 2);
        REQUIRE(at[1] < 5);  // a value, not another key
        if (key == *end) REQUIRE(e.asked == std::vector<int64_t>{at[1]});
        places.insert(at - e.given.begin());
      }
    }
    CHECK(std::ssize(places) == (size == 6 ? 3 : size - 1));  // anywhere that leaves room for the value
  }
}

TEST_CASE("needle: no value is favoured, and no place", "[unit]") {
  const Needle task({.symbols = 4}, {});
  CHECK(share_of_favourite(task, 12, 2000) < share_by_chance(4, 2000));
  std::map<std::ptrdiff_t, double> places;
  for (uint64_t i = 0; i < 2000; ++i) {
    const Example e = task.held_out(3, i, 11);
    ++places[std::find(e.given.begin(), e.given.end(), 4) - e.given.begin()];
  }
  CHECK(places.size() == 10);
  for (const auto& [place, times] : places) CHECK(std::abs(times - 200.0) < 60.0);
}

TEST_CASE("needle: a row has room for its needles", "[unit]") { CHECK(Needle({.needles = 3}, {}).least_size() == 6); }

TEST_CASE("needle: an example by hand, which never changes", "[unit]") {
  const Needle task({}, {});
  CHECK(task.text(task.held_out(1, 0, 8)) == "8 6 a 3 7 0 9 9 a -> 3");
}

}  // namespace ordo::test
