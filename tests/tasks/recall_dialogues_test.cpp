// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/recall_dialogues.h"

#include <map>

#include "support/thrown.h"

namespace ordo::test {

TEST_CASE("made dialogues answer where each thing was put last", "[unit]") {
  size_t asked = 0, moved = 0;
  for (uint64_t index = 0; index < 100; ++index) {
    const auto turns = recall_dialogue(3, index, 8).turns;
    REQUIRE(turns.size() == 16);
    std::map<std::string, std::string> places;
    for (size_t i = 0; i < turns.size(); i += 2) {
      const std::string& said = turns[i].text;
      const std::string& answer = turns[i + 1].text;
      REQUIRE(turns[i].speaker == Speaker::user);
      REQUIRE(turns[i + 1].speaker == Speaker::system);
      if (said.starts_with("where is the ")) {
        ++asked;
        REQUIRE(answer == places.at(said.substr(13)));
        continue;
      }
      const size_t blank = said.find(' ', 8);
      const std::string thing = said.substr(8, blank - 8);
      moved += places.contains(thing) ? 1 : 0;
      places[thing] = said.substr(blank + 1);
      REQUIRE(answer == "the " + thing + " is " + places[thing]);
    }
  }
  CHECK(asked > 250);
  CHECK(moved > 20);
}

TEST_CASE("made dialogues follow from their key and number alone", "[unit]") {
  const auto text = [](uint64_t key, uint64_t index) {
    std::string all;
    for (const auto& turn : recall_dialogue(key, index, 4).turns) all += turn.text + "\n";
    return all;
  };
  CHECK(text(1, 2) == text(1, 2));
  CHECK(text(1, 2) != text(1, 3));
  CHECK(text(1, 2) != text(2, 2));
}

}  // namespace ordo::test
