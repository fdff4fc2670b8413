// SPDX-License-Identifier: Apache-2.0
// The dialogues of a config's splits, read or made.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ordo/data/splits.h"
#include "ordo/tasks/dialogue_files.h"
#include "ordo/tasks/recall_dialogues.h"

namespace ordo {

struct DialogueData {
  std::vector<fs::path> train, validation, test;  // patterns with * ? [] are expanded
  std::vector<double> weights = {};               // of the entries of train; empty: each answer once an epoch
  DialogueFormat format = DialogueFormat::automatic;
  OnBadLine on_bad_line = OnBadLine::stop;
  std::optional<RecallConfig> generate = {};  // in place of files
};
void fields(Fields& f, DialogueData& c);

// `rule` divides the files of `train`; null: it is training whole.
bool has_split(const DialogueData& config, const SplitRule* rule, Split split);
// What contradicts itself, in one sentence; empty: nothing.
std::string contradiction(const DialogueData& config, const SplitRule* rule);

struct DialogueTexts {
  std::array<std::vector<SpokenDialogue>, 3> splits;  // by Split
  std::string left_out = {};                          // BadLines::sentence()
};
// Throws DataError as read_dialogues does, and for a split without a dialogue. `seed`: of what is made.
DialogueTexts read_dialogue_texts(const DialogueData& config, const SplitRule* rule, uint64_t seed);

}  // namespace ordo
