// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/positions/chain.h"
#include "support/positions.h"
#include "support/small_encodings.h"

namespace ordo::test {

namespace {
Choice<PositionEncoding> choice(std::string_view kind, const Source& source = {}) {
  Choice<PositionEncoding> made(kind);
  made.source = source;
  return made;
}
}  // namespace

TEST_CASE("positions: every kind can be built with its defaults, or says what to use instead", "[unit]") {
  std::vector<std::string> two_sided_alone;
  for (const KindInfo& kind : positions().kinds()) {
    INFO(kind.kind);
    PositionFacts facts = small_facts();
    std::shared_ptr<PositionEncoding> made;
    try {
      made = make_position({choice(kind.kind)}, facts);
    } catch (const ConfigError& refusal) {
      two_sided_alone.emplace_back(kind.kind);
      CHECK_THAT(refusal.what(), Catch::StartsWith(std::string(kind.kind) + ": ") && Catch::Contains("use "));
      facts.causal = false;
      made = make_position({choice(kind.kind)}, facts);
    }
    CHECK(made != nullptr);
  }
  CHECK(two_sided_alone == std::vector<std::string>{"time_age"});
}

TEST_CASE("positions: no encoding is one that acts nowhere", "[unit]") {
  CHECK(make_position({}, small_facts())->traits().places.text() == "nothing");
}

TEST_CASE("positions: one encoding stands alone, several are chained", "[unit]") {
  CHECK(std::dynamic_pointer_cast<Chain>(make_position({choice("rope")}, small_facts())) == nullptr);
  CHECK(std::dynamic_pointer_cast<Chain>(make_position({choice("rope"), choice("alibi")}, small_facts())) != nullptr);
}

TEST_CASE("positions: what an encoding cannot do is told at its line of the file", "[unit]") {
  PositionFacts facts = small_facts();
  facts.head_dim = 15;
  CHECK_THROWS_WITH(make_position({choice("alibi"), choice("rope", {"lm.yaml", 7, 15})}, facts),
                    Catch::StartsWith("lm.yaml:7:15: rope: rotary width 15 is odd"));
  CHECK_THROWS_WITH(make_position({choice("rope", {"command line", 0, 0})}, facts),
                    Catch::StartsWith("command line: rope:"));
}

TEST_CASE("positions: an unknown kind is refused with the nearest name", "[unit]") {
  CHECK_THROWS_WITH(make_position({choice("rpoe")}, small_facts()), Catch::Contains("rpoe") && Catch::Contains("rope"));
}

TEST_CASE("positions: an entry acts in the layers of its pattern, repeated", "[unit]") {
  const auto rope = any_encoding("rope", small_facts());
  CHECK(rope->acts_in(7));
  rope->act_in({1, 1, 0});
  CHECK((rope->acts_in(0) && rope->acts_in(1) && !rope->acts_in(2) && rope->acts_in(3) && !rope->acts_in(5)));
}

TEST_CASE("positions: layers cannot be left out by an encoding that acts before them, nor all of them", "[unit]") {
  CHECK_THROWS_WITH(any_encoding("sinusoidal", small_facts())->act_in({1, 0}), Catch::Contains("before all layers"));
  CHECK_THROWS_WITH(any_encoding("rope", small_facts())->act_in({0, 0}), Catch::Contains("acts nowhere"));
}

}  // namespace ordo::test
