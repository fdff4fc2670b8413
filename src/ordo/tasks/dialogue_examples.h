// SPDX-License-Identifier: Apache-2.0
// The windows of dialogues as examples: each is a row.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ordo/data/examples.h"
#include "ordo/tasks/dialogue.h"

namespace ordo {

class DialogueExamples final : public ExampleSet {
 public:
  // Turns are made to fit windows of `length` tokens. Throws ConfigError for a length that has none.
  DialogueExamples(const DialogueLayout& layout, std::vector<EncodedDialogue> dialogues, int64_t length);
  int64_t count() const override { return static_cast<int64_t>(windows_.size()); }
  Batch batch(std::span<const uint64_t> numbers) const override;
  int64_t length(uint64_t number) const override { return windows_[number].tokens; }
  std::string name(uint64_t number) const override;

  const std::vector<EncodedDialogue>& dialogues() const { return dialogues_; }
  size_t dialogue_of(uint64_t number) const { return windows_[number].dialogue; }
  // Characters of the answers that are judged in it; what the tokenizer has not counts one.
  int64_t characters(uint64_t number) const;
  int64_t cut_turns() const { return cut_turns_; }

 private:
  struct Window {
    size_t dialogue;
    TurnWindow turns;
    int64_t tokens;
  };
  TurnRow row(uint64_t number) const;
  DialogueLayout layout_;
  std::vector<EncodedDialogue> dialogues_;
  std::vector<Window> windows_;
  int64_t cut_turns_ = 0;
};

}  // namespace ordo
