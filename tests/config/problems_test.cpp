// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "config/sample.h"

namespace ordo::sample {

TEST_CASE("problems: a path that was not given is told at its nearest parent", "[unit]") {
  Problems problems;
  problems.place("", {"a.yaml", 1, 1});
  problems.place("model", {"a.yaml", 4, 3});
  problems.add("model.attention.heads", "too {}", "many");
  problems.add("train.steps", "too few");
  REQUIRE(problems.all().size() == 2);
  CHECK(problems.all()[0].at.line == 4);
  CHECK(problems.all()[1].at.line == 1);
  CHECK(problems.report() == "a.yaml:1:1: too few\na.yaml:4:3: too many");
}

TEST_CASE("problems: find tells given values only", "[unit]") {
  Problems problems;
  problems.place("model.dim", {"a.yaml", 2, 3});
  REQUIRE(problems.find("model.dim") != nullptr);
  CHECK(problems.find("model.dim")->line == 2);
  CHECK(problems.find("model.heads") == nullptr);
}

TEST_CASE("problems: none, and nothing is thrown", "[unit]") {
  const Problems problems;
  CHECK(problems.empty());
  CHECK_NOTHROW(problems.throw_if_any());
}

TEST_CASE("problems: without a place there is still the text and the hint", "[unit]") {
  Problems problems;
  problems.add_text("model", "wrong", "mend it");
  CHECK_THROWS_WITH(problems.throw_if_any(), "wrong\n        mend it");
}

TEST_CASE("problems: the caret underlines the value, quotes included, and stands right after tabs", "[unit]") {
  Problems problems;
  problems.source_text("a.yaml", "k: 'a b'  # c\nk:\tx y\nk: [1, 2]");
  problems.add_at({"a.yaml", 1, 4}, "one");
  problems.add_at({"a.yaml", 2, 4}, "two");
  problems.add_at({"a.yaml", 3, 4}, "three", "hint");
  CHECK(problems.report() ==
        "a.yaml:1:4: one\n    1 | k: 'a b'  # c\n           ^~~~~\n"
        "a.yaml:2:4: two\n    2 | k: x y\n           ^~~\n"
        "a.yaml:3:4: three\n    3 | k: [1, 2]\n           ^ hint");
}

}  // namespace ordo::sample
