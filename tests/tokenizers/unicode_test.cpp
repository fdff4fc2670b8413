// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tokenizers/unicode.h"

namespace ordo::test {

TEST_CASE("unicode: white space is what the property says, the zero-width space is none", "[unit]") {
  for (const char32_t code : {U'\t', U'\n', U' ', U'\x85', U'\xA0', U'\u1680', U'\u2028', U'\u3000'})
    CHECK(is_space(code));
  for (const char32_t code : {U'a', U'\u200B', U'\u180E', U'\uFEFF', U'\u2060'}) CHECK_FALSE(is_space(code));
}

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

TEST_CASE("unicode: broken bytes become one replacement for each beginning that could not be finished", "[unit]") {
  CHECK(repaired_utf8("a\xE4\xB8 b") == "a\uFFFD b");
  CHECK(repaired_utf8("\xF0\x9F\x98") == "\uFFFD");
  CHECK(repaired_utf8("\xFF\xC0\xAF") == "\uFFFD\uFFFD\uFFFD");
  CHECK(repaired_utf8("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");
  CHECK(repaired_utf8("gr\u00FC\u00DFe") == "gr\u00FC\u00DFe");
}

}  // namespace ordo::test
