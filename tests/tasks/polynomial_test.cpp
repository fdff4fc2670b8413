// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/polynomial.h"

#include "support/thrown.h"
#include "tasks/labels.h"

namespace ordo::test {

TEST_CASE("polynomial: the answer is the sum of the coefficients times powers of x", "[unit]") {
  for (const int64_t modulus : {2, 5, 13}) {
    const Polynomial task({.modulus = modulus}, {.seed = 1});
    for (const int64_t size : {1, 2, 5, 20})
      for (uint64_t i = 0; i < 50; ++i) {
        const Example e = task.held_out(3, i, size);
        REQUIRE(std::ssize(e.given) == size + 1);
        int64_t power = 1, sum = 0;
        for (auto coefficient = e.given.rbegin(); coefficient + 1 != e.given.rend(); ++coefficient) {
          sum += *coefficient * power;
          power = power * e.given.front() % modulus;
        }
        REQUIRE(e.asked == std::vector<int64_t>{sum % modulus});
      }
  }
}

TEST_CASE("polynomial: no answer is favoured at any length", "[unit]") {
  const Polynomial task({.modulus = 5}, {});
  for (const int64_t size : {1, 2, 9}) CHECK(share_of_favourite(task, size, 4000) < share_by_chance(5, 4000));
}

TEST_CASE("polynomial: a modulus that is no prime is refused, with the next prime", "[unit]") {
  CHECK(contains(thrown<ConfigError>([] { Polynomial({.modulus = 9}, {}); }),
                 "task.modulus (9) must be a prime; the next one is 11"));
}

TEST_CASE("polynomial: an example by hand, which never changes", "[unit]") {
  const Polynomial task({}, {});
  CHECK(task.text(task.held_out(1, 0, 3)) == "3 1 2 3 -> 3");  // 1 * 9 + 2 * 3 + 3 = 18, modulo 5
}

}  // namespace ordo::test
