// SPDX-License-Identifier: Apache-2.0
// Encodings from what a user would type, and what is said when it is wrong.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ordo/positions/encoding.h"

namespace ordo::test {

// model.position as YAML: "rope", "{kind: kerple, variant: power}", "[rope, alibi]". The text is called lm.yaml.
std::vector<Choice<PositionEncoding>> choices_of(const std::string& yaml);
// Built for these facts; throws what the trainer would.
std::shared_ptr<PositionEncoding> position_of(const std::string& yaml, const PositionFacts& facts);

struct WrongPosition {
  std::string yaml;
  std::vector<std::string> words;  // what the message must say, beside the place
};
// Checks that it is refused at a place of lm.yaml and in these words.
void check_refused(const WrongPosition& wrong, const PositionFacts& facts);

}  // namespace ordo::test
