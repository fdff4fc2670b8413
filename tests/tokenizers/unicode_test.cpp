// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tokenizers/unicode.h"

namespace ordo::test {

TEST_CASE("unicode: classes follow the categories", "[unit]") {
  CHECK(is_punctuation(U'\u2014'));
  CHECK_FALSE(is_punctuation(U'$'));  // a symbol
  CHECK(is_ascii_punctuation(U'$'));
  CHECK(is_mark(U'\u0903'));
  CHECK_FALSE(is_nonspacing_mark(U'\u0903'));
  CHECK(is_nonspacing_mark(U'\u0301'));
  CHECK(is_number(U'\u00BD'));
  CHECK(is_letter(U'\u4E2D'));
  CHECK(is_other(U'\u200B'));
  CHECK_FALSE(is_other(U'\u0378'));  // not assigned
}

TEST_CASE("unicode: normal forms compose, take apart and unify", "[unit]") {
  CHECK(normal_form("e\u0301", NormalForm::nfc) == "\u00E9");
  CHECK(normal_form("\u00E9", NormalForm::nfd) == "e\u0301");
  CHECK(normal_form("\uFB01\u00BD", NormalForm::nfkc) == "fi1\u20442");
  CHECK(normal_form(std::string("a\0\u00E9", 4), NormalForm::nfd) == std::string("a\0e\u0301", 5));
}

TEST_CASE("unicode: lower case looks at one character at a time", "[unit]") {
  CHECK(lower_case("ÀΣΑΣ Z") == "àσασ z");
  CHECK(lower_case("\u0130") == "i\u0307");
}

TEST_CASE("unicode: graphemes keep marks, flags and families together", "[unit]") {
  const auto parts = graphemes("ae\u0301\r\n\U0001F1E9\U0001F1EA\U0001F468\u200D\U0001F469b");
  REQUIRE(parts.size() == 6);
  CHECK(parts[1] == "e\u0301");
  CHECK(parts[2] == "\r\n");
  CHECK(parts[4] == "\U0001F468\u200D\U0001F469");
}

}  // namespace ordo::test
