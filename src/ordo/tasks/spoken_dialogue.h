// SPDX-License-Identifier: Apache-2.0
// What two sides said to each other, in words.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace ordo {

enum class Speaker { user, system };

struct SpokenTurn {
  Speaker speaker = Speaker::user;
  std::string text;
};

// Turns in their order; a side may have several in a row.
struct SpokenDialogue {
  std::vector<SpokenTurn> turns;
  std::string where;  // "val.json: line 812: dialogue 11290"
  size_t entry = 0;   // of the list of files
};

}  // namespace ordo
