// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/parity.h"

#include <cmath>
#include <map>

#include "tasks/labels.h"

namespace ordo::test {

TEST_CASE("parity: the answer is 1 where the row holds an odd number of ones", "[unit]") {
  const Parity task({}, {.seed = 1});
  for (const int64_t size : {1, 2, 7, 40})
    for (uint64_t i = 0; i < 100; ++i) {
      const Example e = task.held_out(3, i, size);
      REQUIRE(std::ssize(e.given) == size);
      bool odd = false;
      for (const int64_t bit : e.given) odd = odd != (bit == 1);
      REQUIRE(e.asked == std::vector<int64_t>{odd ? 1 : 0});
    }
}

TEST_CASE("parity: no answer is favoured, whatever the length and the bits but the last", "[unit]") {
  const Parity task({}, {});
  for (const int64_t size : {1, 2, 9, 40}) CHECK(share_of_favourite(task, size, 2000) < share_by_chance(2, 2000));
  std::map<int64_t, double> ones, rows;  // by the ones before the last bit
  for (uint64_t i = 0; i < 4000; ++i) {
    const Example e = task.held_out(3, i, 4);
    const int64_t before = e.given[0] + e.given[1] + e.given[2];
    ++rows[before];
    ones[before] += static_cast<double>(e.asked.front());
  }
  for (const auto& [before, seen] : rows) CHECK(std::abs(ones[before] / seen - 0.5) < 2.0 / std::sqrt(seen));
}

TEST_CASE("parity: an example by hand, which never changes", "[unit]") {
  const Parity task({}, {});
  CHECK(task.text(task.held_out(1, 0, 7)) == "0 0 0 1 1 0 1 -> 1");
}

}  // namespace ordo::test
