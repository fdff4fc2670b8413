// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/counting.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "support/thrown.h"

namespace ordo::test {

namespace {

// What an operation does, and to which variable.
std::pair<std::string, std::string> operation_of(const Counting& task, int64_t id) {
  const std::string& name = task.symbols()[static_cast<size_t>(id)];
  const size_t bar = name.find('_');
  return {name.substr(0, bar), name.substr(bar + 1)};
}

// Looks back from a place to the last reset of the variable named there.
int64_t looked_back(const Counting& task, const Example& e, size_t at, int64_t cap) {
  const std::string variable = operation_of(task, e.given[at]).second;
  int64_t increments = 0;
  for (size_t i = at + 1; i-- > 0;) {
    const auto [operation, of] = operation_of(task, e.given[i]);
    if (of != variable) continue;
    if (operation == "zero") break;
    if (operation == "inc") ++increments;
  }
  return std::min(increments, cap);
}

}  // namespace

TEST_CASE("counting: asked at each place is the count of the variable named there, since its last reset", "[unit]") {
  for (const int64_t variables : {1, 3, 5}) {
    const Counting task({.variables = variables, .cap = 4, .increment = 0.4, .reset = 0.05}, {.seed = 1});
    int64_t highest = 0;
    for (const int64_t size : {1, 2, 60})
      for (uint64_t i = 0; i < 50; ++i) {
        const Example e = task.held_out(3, i, size);
        REQUIRE(std::ssize(e.given) == size);
        REQUIRE(std::ssize(e.asked) == size);
        for (size_t at = 0; at < e.given.size(); ++at) {
          REQUIRE(e.asked[at] == looked_back(task, e, at, 4));
          highest = std::max(highest, e.asked[at]);
        }
      }
    CHECK(highest == 4);
  }
}

TEST_CASE("counting: operations have their shares, and variables equal ones", "[unit]") {
  const Counting task({.variables = 3}, {});
  std::map<std::string, double> operations, variables;
  for (uint64_t i = 0; i < 100; ++i)
    for (const int64_t id : task.held_out(3, i, 100).given) {
      const auto [operation, variable] = operation_of(task, id);
      operations[operation] += 1e-4;
      variables[variable] += 1e-4;
    }
  CHECK(std::abs(operations["pass"] - 0.78) < 0.02);
  CHECK(std::abs(operations["inc"] - 0.19) < 0.02);
  CHECK(std::abs(operations["zero"] - 0.03) < 0.01);
  for (const std::string name : {"a", "b", "c"}) CHECK(std::abs(variables[name] - 1.0 / 3) < 0.02);
}

TEST_CASE("counting: shares above one are refused, with both settings", "[unit]") {
  const auto refusal = thrown<ConfigError>([] { Counting({.increment = 0.7, .reset = 0.4}, {}); });
  CHECK(
      contains(refusal, "task.increment (0.7) and task.reset (0.4) are shares of the operations: together at most 1"));
}

TEST_CASE("counting: an example by hand, which never changes", "[unit]") {
  const Counting task({.variables = 2, .increment = 0.5, .reset = 0.2}, {});
  CHECK(task.text(task.held_out(1, 0, 8)) == "pass_a pass_a pass_b inc_b inc_b pass_a pass_a inc_a -> 0 0 0 1 2 0 0 1");
}

}  // namespace ordo::test
