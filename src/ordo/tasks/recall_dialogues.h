// SPDX-License-Identifier: Apache-2.0
// Dialogues that are made, not read: the user tells where things are put and later asks for them.
//   user: put the key in the drawer        system: the key is in the drawer
//   user: put the cup on the shelf         system: the cup is on the shelf
//   user: where is the key                 system: in the drawer
// Who does not remember earlier turns can only guess the last answer.
#pragma once
#include <cstdint>

#include "ordo/config/fields.h"
#include "ordo/tasks/spoken_dialogue.h"

namespace ordo {

struct RecallConfig {
  int64_t dialogues = 1000;  // of training
  int64_t held_out = 100;    // of validation and of test
  int64_t exchanges = 6;     // of a dialogue: the user's turn and its answer
};
void fields(Fields& f, RecallConfig& c);

// A pure function of (key, index). The first exchange puts something somewhere; of the others about half ask for a
// thing that was put, which may have been moved since.
SpokenDialogue recall_dialogue(uint64_t key, uint64_t index, int64_t exchanges);

}  // namespace ordo
