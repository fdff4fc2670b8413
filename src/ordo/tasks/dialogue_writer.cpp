// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/dialogue_writer.h"

#include "ordo/core/hash.h"

namespace ordo {

Prompt DialogueWriter::prompt(std::string_view text) const {
  Prompt made{.ids = {layout_.start()}};
  layout_.append({.speaker = layout_.asks(), .ids = layout_.encode(text)}, made.ids);
  made.ids.push_back(layout_.mark(layout_.answers()));
  return made;
}

std::string DialogueWriter::piece(int64_t id, bool first) const {
  std::string piece = layout_.tokenizer().piece(id);
  if (first && piece.starts_with(' ')) piece.erase(0, 1);  // as a whole text is decoded
  return piece;
}

std::optional<int64_t> DialogueWriter::token(std::string_view text) const {
  return TokenizerWriter(layout_.tokenizer()).token(text);
}

uint64_t DialogueWriter::fingerprint() const {
  const uint64_t sides = mix(static_cast<uint64_t>(layout_.answers()), static_cast<uint64_t>(layout_.answer_tokens()));
  return mix(layout_.tokenizer().fingerprint(), sides);
}

}  // namespace ordo
