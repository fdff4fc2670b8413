// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/bad_lines.h"

#include "support/thrown.h"

namespace ordo::test {

TEST_CASE("bad lines: stop throws the problem as it is", "[unit]") {
  BadLines bad;
  CHECK(thrown<DataError>([&] { bad.leave_out("a.tsv: line 7: expected 2 cells, found 3"); }) ==
        "a.tsv: line 7: expected 2 cells, found 3");
  CHECK(bad.count() == 0);
}

TEST_CASE("bad lines: skip counts, keeps the first three and says so in one sentence", "[unit]") {
  BadLines bad(OnBadLine::skip);
  CHECK(bad.sentence().empty());
  bad.leave_out("a: line 1: odd");
  CHECK(bad.sentence() == "1 line left out: a: line 1: odd");
  for (const auto* problem : {"a: line 2: odd", "b: line 1: odd", "b: line 2: odd", "b: line 3: odd"})
    bad.leave_out(problem);
  CHECK(bad.count() == 5);
  CHECK(bad.sentence() == "5 lines left out: a: line 1: odd; a: line 2: odd; b: line 1: odd; and 2 more");
}

TEST_CASE("bad lines: what is counted may be no line", "[unit]") {
  BadLines bad(OnBadLine::skip, "example");
  bad.leave_out("a.png is empty");
  CHECK(bad.sentence() == "1 example left out: a.png is empty");
  bad.leave_out("b.png is empty");
  CHECK(bad.sentence() == "2 examples left out: a.png is empty; b.png is empty");
}

TEST_CASE("bad lines: an attempt takes data errors for a bad line, and nothing else", "[unit]") {
  BadLines bad(OnBadLine::skip);
  CHECK(bad.attempt([] {}));
  CHECK(!bad.attempt([] { throw DataError("a: line 4: odd"); }));
  CHECK(bad.sentence() == "1 line left out: a: line 4: odd");
  CHECK(thrown<NumericError>([&] { bad.attempt([] { throw NumericError("not of a line"); }); }) == "not of a line");
}

}  // namespace ordo::test
