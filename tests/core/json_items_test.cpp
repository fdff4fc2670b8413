// SPDX-License-Identifier: Apache-2.0
#include "ordo/core/json_items.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ordo/core/errors.h"
#include "support/catch.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

std::vector<std::string> items_of(const std::string& text) {
  std::vector<std::string> found;
  each_json_item(text, "a.json", [&](std::string_view key, const Json& value, size_t offset) {
    found.push_back(std::string(key) + ":" + json_line(value));
    if (value.is_structured()) CHECK((text[offset] == '{' || text[offset] == '['));
  });
  return found;
}

}  // namespace

TEST_CASE("json: the items of a list and of an object come one by one, in their order", "[unit]") {
  CHECK(items_of(R"([{"a": [1, {}]}, 2, [], "x"])") ==
        std::vector<std::string>{R"(:{"a":[1,{}]})", ":2", ":[]", R"(:"x")"});
  CHECK(items_of("{\"b\": {\"c\": 1},\n \"a\": [[2]], \"d\": null}") ==
        std::vector<std::string>{R"(b:{"c":1})", "a:[[2]]", "d:null"});
  CHECK(items_of("[]").empty());
  CHECK(items_of("{}").empty());
}

TEST_CASE("json: items are read as strictly as a whole text, and told with the same places", "[unit]") {
  for (const std::string text :
       {"[{\"a\": 1},\n {\"a\": 1, \"a\": 2}]", "{\"a\": 1, \"a\": 2}", "[1, 2", "[1] 2", ""}) {
    CAPTURE(text);
    const auto whole = thrown<Error>([&] { parse_json(text, "a.json"); });
    CHECK(thrown<Error>([&] { items_of(text); }) == whole);
    CHECK(contains(whole, "a.json: not valid JSON at"));
  }
  CHECK(contains(thrown<Error>([] { items_of("12"); }), "expected a list or an object"));
}

TEST_CASE("json: what a visit throws ends the reading", "[unit]") {
  int visits = 0;
  const auto stop = [&] {
    each_json_item("[1, 2, 3]", "a.json", [&](std::string_view, const Json&, size_t) {
      if (++visits == 2) throw DataError("enough");
    });
  };
  CHECK(thrown<DataError>(stop) == "enough");
  CHECK(visits == 2);
}

}  // namespace ordo::test
