// SPDX-License-Identifier: Apache-2.0
#include "ordo/core/json.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "ordo/core/errors.h"
#include "support/catch.h"

namespace ordo {

namespace {

std::string json_complaint(const std::string& text) {
  try {
    parse_json(text, "state.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("json: keys keep their order", "[unit]") {
  CHECK(json_line(parse_json(R"({"b": 1, "a": [true, null, "x", -2, 1.5]})", "x")) ==
        R"({"b":1,"a":[true,null,"x",-2,1.5]})");
}

TEST_CASE("json: what is not JSON is told with its place and its file", "[unit]") {
  struct Case {
    std::string text, place, phrase;
  };
  const std::vector<Case> table{
      {"", "line 1, column 1", "unexpected end of input"},
      {"{", "line 1, column 1", "end of input"},
      {"{\"a\": 1,\n  \"b\": }", "line 2, column 8", "unexpected '}'"},
      {"{\"a\": 1, \"a\": 2}", "line 1, column 12", "key 'a' appears twice"},
      {"{\"x\": {\"a\": 1,\n\"a\": 2}}", "line 2, column 3", "key 'a' appears twice"},
      {"[1, 2] x", "line 1, column 8", "expected end of input"},
      {"nan", "line 1, column 2", "invalid literal"},
      {"[NaN]", "line 1, column 2", "invalid literal"},
      {"[1e999]", "line 1, column 7", "number overflow"},
      {"[01]", "line 1, column 4", "unexpected number literal"},
      {"{'a': 1}", "line 1, column 2", "invalid literal"},
      {"[1,]", "line 1, column 4", "unexpected ']'"},
      {"\"\xff\"", "line 1, column 2", "ill-formed UTF-8"},
      {"\"a\nb\"", "line 1, column 3", "control character"},
      {"// c\n1", "line 1, column 1", "invalid literal"},
      {std::string("1\0x", 3), "line 1, column 2", "a NUL byte"},
  };
  for (const auto& [text, place, phrase] : table) {
    INFO(text);
    const std::string message = json_complaint(text);
    INFO(message);
    CHECK(message.starts_with("state.json: not valid JSON at " + place));
    CHECK(message.find(phrase) != std::string::npos);
    CHECK(message.find("json.exception") == std::string::npos);
  }
}

TEST_CASE("json: the same key in two objects is no duplicate", "[unit]") {
  CHECK(json_complaint(R"([{"a": 1}, {"a": {"a": 2}}])").empty());
}

TEST_CASE("json: a hundred levels are taken, more are refused", "[unit]") {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(json_complaint(nested(100)).empty());
  CHECK(json_complaint(nested(101)).find("deeper than 100") != std::string::npos);
  CHECK(json_complaint(std::string(1'000'000, '[')).find("deeper than 100") != std::string::npos);
}

TEST_CASE("json: an object with many keys is read in no time", "[unit]") {
  std::string text = "{\"k\": 0";
  for (int i = 0; i < 50'000; ++i) text += fmt::format(", \"token{}\": {}", i, i);
  const Json json = parse_json(text + "}", "vocabulary");
  CHECK(json.size() == 50'001);
  CHECK(json.back() == 49'999);
}

TEST_CASE("json: doubles are written so that they read back the same, NaN and infinity as null", "[unit]") {
  for (const double value : {0.1, 1.0 / 3.0, 1e-300, 3e-4, std::numeric_limits<double>::max()})
    CHECK(parse_json(json_line(Json(value)), "x").get<double>() == value);
  CHECK(json_line(Json({std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})) ==
        "[null,null]");
}

TEST_CASE("json: text that is not UTF-8 is written with replacement characters", "[unit]") {
  CHECK(json_line(Json("a\xff")) == "\"a\xEF\xBF\xBD\"");
}

TEST_CASE("json: the indented form ends in a line break", "[unit]") {
  CHECK(json_text(Json{{"a", {1, 2}}}) == "{\n  \"a\": [\n    1,\n    2\n  ]\n}\n");
}

}  // namespace ordo
