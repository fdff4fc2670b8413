// SPDX-License-Identifier: Apache-2.0
#include "ordo/core/text.h"
#include "support/catch.h"

namespace ordo {

TEST_CASE("table: text is left, numbers are right, columns two spaces apart", "[unit]") {
  Table table({"encoding", "loss", "size"});
  table.row({"rope", "1.5", "10.7M"});
  table.row({"t5_bias", "12.25", "9k"});
  CHECK(table.text() ==
        "encoding   loss   size\n"
        "rope        1.5  10.7M\n"
        "t5_bias   12.25     9k\n");
}

TEST_CASE("table: a column with a word in it is text, one with gaps is still numbers", "[unit]") {
  Table table({"a", "b", "c"});
  table.row({"1", "-", "x"});
  table.row({"many", "10", "y"});
  CHECK(table.text() ==
        "a      b  c\n"
        "1      -  x\n"
        "many  10  y\n");
}

TEST_CASE("table: wide characters take two columns", "[unit]") {
  Table table({"name", "x"});
  table.row({"日本語", "a"});
  table.row({"b", "c"});
  CHECK(table.text() == "name    x\n日本語  a\nb       c\n");
}

TEST_CASE("table: short rows and no rows", "[unit]") {
  Table table({"a", "b"});
  CHECK(table.empty());
  CHECK(table.text() == "a  b\n");
  table.row({"x"});
  CHECK(table.text() == "a  b\nx\n");
}

}  // namespace ordo
