// SPDX-License-Identifier: Apache-2.0
#include "ordo/core/utf8.h"

#include "ordo/core/text.h"
#include "support/catch.h"

namespace ordo {

TEST_CASE("utf8: valid sequences of every length are taken", "[unit]") {
  for (const char* text : {"", "a", "\x7f", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "naïve 日本 😀"})
    CHECK(valid_utf8(text));
}

TEST_CASE("utf8: the first bad sequence is told", "[unit]") {
  struct Case {
    std::string bytes;
    size_t bad;
  };
  const std::vector<Case> table{{"\x80", 0},
                                {"a\xBF", 1},
                                {"\xC0\x80", 0},
                                {"\xC1\xBF", 0},
                                {"\xC2", 0},
                                {"ab\xC3(", 2},
                                {"\xE0\x80\x80", 0},
                                {"\xE0\x9F\xBF", 0},
                                {"\xED\xA0\x80", 0},
                                {"\xED\xBF\xBF", 0},
                                {"\xE2\x82", 0},
                                {"é\xE2\x82", 2},
                                {"\xF0\x80\x80\x80", 0},
                                {"\xF0\x8F\xBF\xBF", 0},
                                {"\xF4\x90\x80\x80", 0},
                                {"\xF5\x80\x80\x80", 0},
                                {"\xFF", 0},
                                {"x\xFE\xFF", 1}};
  for (const auto& [bytes, bad] : table) {
    size_t offset = 99;
    CHECK_FALSE(valid_utf8(bytes, &offset));
    CHECK(offset == bad);
  }
}

TEST_CASE("utf8: width is what a terminal shows", "[unit]") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("naïve") == 5);
  CHECK(display_width("日本") == 4);
  CHECK(display_width("e\u0301") == 1);
  CHECK(display_width("😀") == 2);
  CHECK(display_width("a\u200bb") == 2);
  CHECK(display_width("\xFF"
                      "a") == 2);
}

TEST_CASE("utf8: code points are taken apart", "[unit]") {
  const std::string text = "é€😀";
  CHECK(code_point_at(text, 0).value == 0xE9);
  CHECK(code_point_at(text, 2).value == 0x20AC);
  CHECK(code_point_at(text, 5).value == 0x1F600);
  CHECK(code_point_at(text, 1).bytes == 0);
}

}  // namespace ordo
