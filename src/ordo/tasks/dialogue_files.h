// SPDX-License-Identifier: Apache-2.0
// Files of dialogues, plain, .gz or .zst, in three shapes:
//   sgd       a list:      [{"dialogue_id": …, "turns": [{"speaker": "USER" | "SYSTEM", "utterance": …}, …]}, …]
//             (Schema-Guided Dialogue, Rastogi et al. 2020)
//   crosswoz  an object:   {"11290": {"messages": [{"role": "usr" | "sys", "content": …}, …]}, …} (Zhu et al. 2020)
//   jsonl     line by line: {"turns": [{"role": "user" | "system", "text": …}, …]}
// Other keys are passed over. automatic: by the name .jsonl, else by how the text begins.
#pragma once
#include <cstdint>
#include <vector>

#include "ordo/core/files.h"
#include "ordo/data/bad_lines.h"
#include "ordo/tasks/spoken_dialogue.h"

namespace ordo {

enum class DialogueFormat { automatic, sgd, crosswoz, jsonl };

struct FiledDialogue {
  SpokenDialogue spoken;
  int64_t number = 0;  // in its file, from 0, those that were left out among them
};
// In the order of the file; one is held as JSON at a time. A dialogue that has no turns, an unknown role, an utterance
// of blanks alone, or turns of one side only goes to `bad`, with file, line and place. Throws DataError for what
// read_text refuses, for a text that is not JSON of that shape, and for a file of which no dialogue is left.
std::vector<FiledDialogue> read_dialogues(const fs::path& path, DialogueFormat format, BadLines& bad);

}  // namespace ordo
