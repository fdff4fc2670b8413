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

TEST_CASE("utf8: code points and text are two forms of any bytes", "[unit]") {
  const std::string text = "a\x7F\u0080\u07FF\u0800\uD7FF\uE000\uFFFF\U00010000\U0010FFFF";
  CHECK(code_points(text) == U"a\x7F\u0080\u07FF\u0800\uD7FF\uE000\uFFFF\U00010000\U0010FFFF");
  const std::string broken = text + "\xFF\xC3(\xE4\xB8";
  std::string back;
  for (const char32_t code : code_points(broken)) append_utf8(back, code);
  CHECK(back == broken);
  CHECK(code_points("\xFF") != code_points("\xFE"));
}

TEST_CASE("utf8: characters come in order, a broken byte is one", "[unit]") {
  std::vector<std::string> characters;
  each_character("aé\xFF€", [&](char32_t, std::string_view bytes) { characters.emplace_back(bytes); });
  CHECK(characters == std::vector<std::string>{"a", "é", "\xFF", "€"});
}

TEST_CASE("utf8: a character's start is found from any of its bytes", "[unit]") {
  const std::string text = "aé€😀";
  const std::vector<size_t> starts{0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};
  for (size_t i = 0; i < starts.size(); ++i) CHECK(character_start(text, i) == starts[i]);
  CHECK(character_start("\x80\x80", 1) == 0);
}

TEST_CASE("utf8: broken bytes become one replacement for each beginning that could not be finished", "[unit]") {
  CHECK(repaired_utf8("a\xE4\xB8 b") == "a\uFFFD b");
  CHECK(repaired_utf8("\xF0\x9F\x98") == "\uFFFD");
  CHECK(repaired_utf8("\xFF\xC0\xAF") == "\uFFFD\uFFFD\uFFFD");
  CHECK(repaired_utf8("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");
  CHECK(repaired_utf8("gr\u00FC\u00DFe") == "gr\u00FC\u00DFe");
  CHECK(unfinished_length("\xE4\xB8", 0) == 2);
  CHECK(unfinished_length("\xE4\xB8\xAD", 0) == 0);
  CHECK(unfinished_length("\x80", 0) == 0);
}

TEST_CASE("utf8: as much of a text as fits ends at a whole character", "[unit]") {
  CHECK(fitting("日本語", 5) == "日本");
  CHECK(fitting("e\u0301e\u0301", 1) == "e\u0301");
  CHECK(fitting("a\xFFz", 2) == "a\xFF");
  CHECK(fitting("abc", 3) == "abc");
  CHECK(fitting("abc", 0).empty());
}

TEST_CASE("utf8: white space is what the property says, the zero-width space is none", "[unit]") {
  for (const char32_t code : {U'\t', U'\n', U' ', U'\x85', U'\xA0', U'\u1680', U'\u2028', U'\u3000'})
    CHECK(is_space(code));
  for (const char32_t code : {U'a', U'\u200B', U'\u180E', U'\uFEFF', U'\u2060'}) CHECK_FALSE(is_space(code));
}

TEST_CASE("utf8: places count lines from LF and columns in characters", "[unit]") {
  const std::string text = "añ\nßx";
  CHECK(place_in(text, 0).text() == "line 1, column 1");
  CHECK(place_in(text, text.find('\n')).text() == "line 1, column 3");
  CHECK(place_in(text, text.find('x')).text() == "line 2, column 2");
}

}  // namespace ordo
