// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/rows.h"

#include <cmath>
#include <map>
#include <set>

namespace ordo::test {

TEST_CASE("rows: letters go on after z", "[unit]") {
  const auto names = letters(703);
  CHECK(names[0] == "a");
  CHECK(names[25] == "z");
  CHECK(names[26] == "aa");
  CHECK(names[701] == "zz");
  CHECK(names[702] == "aaa");
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == 703);
}

TEST_CASE("rows: different numbers are drawn in every order, equally often", "[unit]") {
  std::map<std::vector<int64_t>, double> seen;
  for (uint64_t i = 0; i < 6000; ++i) {
    KeyedSequence draw(mix(5, i));
    ++seen[draw_distinct(draw, 2, 3)];
  }
  CHECK(seen.size() == 6);
  for (const auto& [order, times] : seen) CHECK(std::abs(times - 1000.0) < 120.0);
}

}  // namespace ordo::test
