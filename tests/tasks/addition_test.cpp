// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/addition.h"

#include <algorithm>

namespace ordo::test {

namespace {

// The number that digits say, the last one first.
int64_t number_of(std::vector<int64_t> digits, bool last_first, int64_t base) {
  if (last_first) std::reverse(digits.begin(), digits.end());
  int64_t value = 0;
  for (const int64_t digit : digits) value = value * base + digit;
  return value;
}

}  // namespace

TEST_CASE("addition: the digits asked are those of the sum, one more than a summand has", "[unit]") {
  for (const Reversed reversed : {Reversed::none, Reversed::sum, Reversed::all})
    for (const int64_t base : {2, 10})
      for (const int64_t size : {1, 3, 12}) {
        const Addition task({.reversed = reversed, .base = base}, {.seed = 1});
        for (uint64_t i = 0; i < 100; ++i) {
          const Example e = task.held_out(5, i, size);
          REQUIRE(std::ssize(e.given) == 2 * size + 1);
          REQUIRE(std::ssize(e.asked) == size + 1);
          const auto plus = e.given.begin() + size;
          REQUIRE(*plus == base);
          const bool summands = reversed == Reversed::all, sum = reversed != Reversed::none;
          REQUIRE(number_of({e.given.begin(), plus}, summands, base) +
                      number_of({plus + 1, e.given.end()}, summands, base) ==
                  number_of(e.asked, sum, base));
        }
      }
}

TEST_CASE("addition: examples by hand, which never change; the orders show the same sum", "[unit]") {
  const auto text = [](Reversed reversed) {
    const Addition task({.reversed = reversed}, {});
    return task.text(task.held_out(1, 0, 3));
  };
  CHECK(text(Reversed::all) == "8 6 2 + 3 7 0 -> 1 4 3 0");
  CHECK(text(Reversed::sum) == "2 6 8 + 0 7 3 -> 1 4 3 0");
  CHECK(text(Reversed::none) == "2 6 8 + 0 7 3 -> 0 3 4 1");
}

TEST_CASE("addition: carries are common at every length", "[unit]") {
  const Addition task({}, {});
  for (const int64_t size : {2, 20}) {
    int64_t carries = 0;
    for (uint64_t i = 0; i < 500; ++i) carries += task.held_out(5, i, size).asked.back();
    CHECK(carries > 200);
    CHECK(carries < 300);
  }
}

}  // namespace ordo::test
