// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/class_names.h"

#include "ordo/core/errors.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

using Names = std::vector<std::string>;

TEST_CASE("class names: labels that are whole numbers are ordered as numbers, others by their bytes", "[unit]") {
  CHECK(ClassNames::of_labels({"10", "9", "-1"}).all() == Names{"-1", "9", "10"});
  CHECK(ClassNames::of_labels({"b", "10", "9"}).all() == Names{"10", "9", "b"});
}

TEST_CASE("class names: a number counts the classes from 0 where none is named by a number", "[unit]") {
  const ClassNames named({"no", "yes"});
  CHECK(named.find("yes") == 1);
  CHECK(named.find("1") == 1);
  CHECK_FALSE(named.find("2"));
  CHECK_FALSE(named.find("-1"));
  const ClassNames numbered({"1", "2"});
  CHECK(numbered.find("1") == 0);
  CHECK_FALSE(numbered.find("0"));
}

TEST_CASE("class names: an unknown label is told with the nearest class and all there are", "[unit]") {
  const std::string said = thrown<DataError>([] { ClassNames({"negative", "positive"}).number("postive"); });
  CHECK(contains(said, "there is no class 'postive'; did you mean 'positive'?"));
  CHECK(contains(said, "negative, positive (or 0 to 1)"));
}

TEST_CASE("class names: an unknown label of what is judged is told with its place", "[unit]") {
  const ClassNames named({"no", "yes"});
  named.require_judged(Names{"yes", "no"}, "a.tsv: line 3");
  CHECK(contains(thrown<DataError>([&] {
                   named.require_judged(Names{"yes", "perhaps"}, "a.tsv: line 3");
                 }),
                 "a.tsv: line 3: there is no class 'perhaps'"));
}

TEST_CASE("class names: lists for people have twenty names at most, without control characters", "[unit]") {
  Names names{"\x1b[31mred", "two\nlines"};
  CHECK(class_list(names) == "\\x1b[31mred, two\\nlines");
  CHECK(counted_classes(names, std::vector<int64_t>{4, 1}) == "\\x1b[31mred 4, two\\nlines 1");
  names.resize(21, "more");
  CHECK(class_list(names).ends_with("more, …"));
  CHECK(counted_classes(names, std::vector<int64_t>(21, 1)).ends_with("more 1, …"));
}

TEST_CASE("class names: one class, an empty name and a name twice are refused", "[unit]") {
  CHECK(contains(thrown<ConfigError>([] { ClassNames({"a"}); }), "two classes or more, found 1: 'a'"));
  CHECK(contains(thrown<ConfigError>([] { ClassNames({"a", ""}); }), "class 1 is empty"));
  CHECK(contains(thrown<ConfigError>([] { ClassNames({"a", "b", "a"}); }), "two classes 'a'"));
  const Scratch scratch;
  const auto path = scratch.write("labels.txt", "a\n\nb\n");
  CHECK(contains(thrown<ConfigError>([&] { ClassNames::of_file(path); }), "labels.txt: the name of class 1 is empty"));
}

}  // namespace ordo::test
