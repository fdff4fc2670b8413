// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/modular_sum.h"

#include "tasks/labels.h"

namespace ordo::test {

TEST_CASE("modular_sum: the answer is what is left of the sum", "[unit]") {
  for (const int64_t modulus : {2, 5, 12}) {
    const ModularSum task({.modulus = modulus}, {.seed = 1});
    for (const int64_t size : {1, 2, 7, 40})
      for (uint64_t i = 0; i < 50; ++i) {
        const Example e = task.held_out(3, i, size);
        REQUIRE(std::ssize(e.given) == size);
        int64_t left = 0;
        for (const int64_t number : e.given) {  // step by step, as on a clock
          left += number;
          if (left >= modulus) left -= modulus;
        }
        REQUIRE(e.asked == std::vector<int64_t>{left});
      }
  }
}

TEST_CASE("modular_sum: no answer is favoured at any length", "[unit]") {
  const ModularSum task({.modulus = 5}, {});
  for (const int64_t size : {1, 2, 9, 40}) CHECK(share_of_favourite(task, size, 4000) < share_by_chance(5, 4000));
}

TEST_CASE("modular_sum: an example by hand, which never changes", "[unit]") {
  const ModularSum task({}, {});
  CHECK(task.text(task.held_out(1, 0, 6)) == "3 1 2 3 2 0 -> 1");
}

}  // namespace ordo::test
