// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/dyck.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ordo/ops/fused_loss.h"

namespace ordo::test {

namespace {

// The brackets of a row's start that are open, found by striking out pairs that face each other until none is left.
std::string still_open(std::string row) {
  for (bool found = true; found;) {
    found = false;
    for (const std::string pair : {"()", "[]", "{}"})
      if (const size_t at = row.find(pair); at != std::string::npos) {
        row.erase(at, 2);
        found = true;
      }
  }
  return row;
}

std::string brackets_of(const Dyck& task, const std::vector<int64_t>& ids) {
  std::string row;
  for (const int64_t id : ids) row += id == kIgnore ? "." : task.symbols()[static_cast<size_t>(id)];
  return row;
}

}  // namespace

TEST_CASE("dyck: asked at each place is the partner of the innermost open bracket", "[unit]") {
  const Dyck task({.brackets = 3, .depth = 4}, {.seed = 1});
  size_t deepest = 0;
  for (const int64_t size : {1, 2, 9, 40})
    for (uint64_t i = 0; i < 50; ++i) {
      const Example e = task.held_out(3, i, size);
      const std::string given = brackets_of(task, e.given), asked = brackets_of(task, e.asked);
      REQUIRE(std::ssize(given) == size);
      REQUIRE(asked.size() == given.size());
      for (size_t at = 0; at < given.size(); ++at) {
        const std::string open = still_open(given.substr(0, at + 1));
        REQUIRE(open.find_first_of(")]}") == std::string::npos);  // nothing closes what is not open
        const std::map<char, char> partner{{'(', ')'}, {'[', ']'}, {'{', '}'}};
        REQUIRE(asked[at] == (open.empty() ? '.' : partner.at(open.back())));
        deepest = std::max(deepest, open.size());
      }
    }
  CHECK(deepest == 4);
}

TEST_CASE("dyck: kinds of brackets are equally likely", "[unit]") {
  const Dyck task({.brackets = 3, .depth = 4}, {.seed = 1});
  std::map<int64_t, double> seen;
  for (uint64_t i = 0; i < 3000; ++i) ++seen[task.held_out(3, i, 9).asked.front()];
  CHECK(seen.size() == 3);
  for (const auto& [closing, times] : seen) CHECK(std::abs(times - 1000.0) < 110.0);
}

TEST_CASE("dyck: beyond four kinds, brackets are numbered", "[unit]") {
  const Dyck task({.brackets = 5}, {});
  CHECK(task.symbols() == std::vector<std::string>{"(", "[", "{", "<", "(4", ")", "]", "}", ">", ")4"});
}

TEST_CASE("dyck: an example by hand, which never changes", "[unit]") {
  const Dyck task({}, {});
  CHECK(task.text(task.held_out(1, 0, 8)) == "( ( ) ) ( ) [ ] -> ) ) ) . ) . ] .");
}

}  // namespace ordo::test
