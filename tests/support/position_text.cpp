// SPDX-License-Identifier: Apache-2.0
#include "support/position_text.h"

#include "ordo/config/config.h"
#include "support/catch.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {
struct PositionText {
  std::vector<Choice<PositionEncoding>> position;
};
void fields(Fields& f, PositionText& c) { f("position", c.position, "what is tested"); }
}  // namespace

std::vector<Choice<PositionEncoding>> choices_of(const std::string& yaml) {
  PositionText file;
  load_config_text("position: " + yaml + "\n", walk_of(file), {.name = "lm.yaml"});
  return file.position;
}

std::shared_ptr<PositionEncoding> position_of(const std::string& yaml, const PositionFacts& facts) {
  return make_position(choices_of(yaml), facts);
}

void check_refused(const WrongPosition& wrong, const PositionFacts& facts) {
  INFO(wrong.yaml);
  const std::string said = thrown<ConfigError>([&] { position_of(wrong.yaml, facts); });
  CHECK_THAT(said, Catch::StartsWith("lm.yaml:1:"));
  for (const std::string& word : wrong.words) CHECK_THAT(said, Catch::Contains(word));
}

}  // namespace ordo::test
