// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tokenizers/regex.h"

#include <vector>

#include "ordo/core/errors.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

std::vector<std::string> all_matches(const Regex& regex, std::string_view text) {
  std::vector<std::string> found;
  Matches matches(regex, text);
  while (const auto match = matches.next()) found.emplace_back(text.substr(match->from, match->to - match->from));
  return found;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("regex: classes mean what Oniguruma means by them", "[unit]") {
  CHECK(all_matches(Regex::from_oniguruma(R"(\s)"), "a\u00A0b\u180Ec\u0085").size() == 2);
  CHECK(all_matches(Regex::from_oniguruma(R"(\w+)"), "a\u0301\u203F1 \u00BD") == Texts{"a\u0301\u203F1"});
  CHECK(all_matches(Regex::from_oniguruma(R"([^\s\w]+)"), "a, b!") == Texts{",", "!"});
  CHECK(all_matches(Regex::from_oniguruma(R"(\d)"), "1\u0663\u00BD") == Texts{"1", "\u0663"});
  CHECK(all_matches(Regex::from_oniguruma(R"(\h+)"), "xfF9g") == Texts{"fF9"});
  CHECK(all_matches(Regex::from_oniguruma(R"(\u4E00)"), "\u4E00") == Texts{"\u4E00"});
  CHECK(all_matches(Regex::from_oniguruma("^b"), "a\nb") == Texts{"b"});
}

TEST_CASE("regex: what PCRE2 cannot say is refused with its place", "[unit]") {
  CHECK(contains(thrown<DataError>([] { Regex::from_oniguruma("[a-z&&[^b]]"); }), "character 5"));
  CHECK(contains(thrown<DataError>([] { Regex::from_oniguruma("[a[b]]"); }), "bracket"));
  CHECK(contains(thrown<DataError>([] { Regex::from_oniguruma(R"([\W])"); }), "\\W"));
  CHECK(contains(thrown<DataError>([] { Regex::from_oniguruma("(a"); }), "byte 2"));
  CHECK(contains(thrown<DataError>([] { Regex::from_oniguruma(std::string(100000, 'a')); }), "100000"));
}

TEST_CASE("regex: a literal stands for itself, whatever it holds", "[unit]") {
  const std::string odd("a.*[\\]\u00E9\0$", 11);
  CHECK(all_matches(Regex::literal(odd), "x" + odd + odd) == Texts{odd, odd});
}

TEST_CASE("regex: empty matches advance by a character and do not touch the match before", "[unit]") {
  CHECK(all_matches(Regex("b*"), "a\u00E9bb") == Texts{"", "", "bb"});
}

TEST_CASE("regex: a pattern that never ends is an error, not a wait", "[unit]") {
  const Regex slow(R"((?:(?:a+)+)+$)");
  CHECK(contains(thrown<DataError>([&] { slow.find(std::string(64, 'a') + "b", 0); }), "gives up"));
}

TEST_CASE("regex: long texts need no deep stack", "[unit]") {
  const std::string text(1 << 20, 'a');
  const auto found = Regex(R"((?:a|b)+)").find(text, 0);
  REQUIRE(found);
  CHECK(found->to == text.size());
}

}  // namespace ordo::test
