// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/core/hash.h"
#include "ordo/core/text.h"
#include "ordo/generate/generate.h"

namespace ordo::test {

namespace {

const std::string kReplaced = "\uFFFD";

std::string joined(const std::vector<std::string>& pieces) {
  Utf8Joiner joiner;
  std::string text;
  for (const auto& piece : pieces) {
    const auto part = joiner.add(piece);
    CHECK(valid_utf8(part));
    text += part;
  }
  return text + joiner.finish();
}

std::vector<std::string> bytes_of(const std::string& text) {
  std::vector<std::string> pieces;
  for (const char c : text) pieces.emplace_back(1, c);
  return pieces;
}

}  // namespace

TEST_CASE("utf-8 joiner: text comes out as it was, byte by byte", "[unit]") {
  const std::string text = "plain, é ñ, 世界, 🎈\n\u0800\uFFFF\U0010FFFF";
  CHECK(joined(bytes_of(text)) == text);
  CHECK(joined({text}) == text);
}

TEST_CASE("utf-8 joiner: a character comes with its last byte, not before and not after", "[unit]") {
  Utf8Joiner joiner;
  CHECK(joiner.add("a\xE4\xB8") == "a");
  CHECK(joiner.add("\x96") == "世");
  CHECK(joiner.add("\xF0\x9F").empty());
  CHECK(joiner.add("").empty());
  CHECK(joiner.add("\x8E\x88!") == "🎈!");
  CHECK(joiner.finish().empty());
}

// The replacements are those of Unicode's recommended practice (chapter 3, "maximal subparts"), as browsers and Python
// make them.
TEST_CASE("utf-8 joiner: broken bytes become replacement characters at once, one for each start of a character",
          "[unit]") {
  struct Case {
    std::string bytes, text;
  };
  const std::vector<Case> cases{
      {"\xFF", kReplaced},
      {"a\x80z", "a" + kReplaced + "z"},
      {"\xC0\xAF", kReplaced + kReplaced},
      {"\xE2\x28\xA1", kReplaced + "(" + kReplaced},
      {"\xF0\x90\x28", kReplaced + "("},
      {"\xED\xA0\x80", kReplaced + kReplaced + kReplaced},
      {"\xF4\x90\x80\x80", kReplaced + kReplaced + kReplaced + kReplaced},
      {"\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64",
       "a" + kReplaced + kReplaced + kReplaced + "b" + kReplaced + "c" + kReplaced + kReplaced + "d"}};
  for (const auto& [bytes, text] : cases) {
    CHECK(joined({bytes}) == text);
    CHECK(joined(bytes_of(bytes)) == text);
  }
}

TEST_CASE("utf-8 joiner: what is left at the end is replaced", "[unit]") {
  CHECK(joined({"ab\xE4\xB8"}) == "ab" + kReplaced);
  CHECK(joined({"\xF0"}) == kReplaced);
}

TEST_CASE("utf-8 joiner: any bytes in any pieces give valid text that does not depend on the pieces", "[unit]") {
  for (uint64_t number = 0; number < 500; ++number) {
    KeyedSequence draw(mix(5, number));
    std::string bytes;
    const std::string favoured = "a\x80\xBF\xC2\xE0\xA0\xED\x9F\xF0\x90\xF4\x8F\xFF";
    for (int i = 0; i < 12; ++i) bytes += favoured[draw.below(favoured.size())];
    const auto whole = joined({bytes});
    CHECK(valid_utf8(whole));
    CHECK(joined(bytes_of(bytes)) == whole);
    const size_t cut = draw.below(bytes.size());
    CHECK(joined({bytes.substr(0, cut), bytes.substr(cut)}) == whole);
  }
}

}  // namespace ordo::test
