// SPDX-License-Identifier: Apache-2.0
// How the model of a dialogue is asked, and what it answers.
#pragma once
#include "ordo/tasks/dialogue_layout.h"
#include "ordo/tasks/text_writer.h"

namespace ordo {

// A prompt is one turn of the asking side, which opens a dialogue. Tokens that are not of the answer's text, the marks,
// are never shown.
class DialogueWriter final : public TextWriter {
 public:
  explicit DialogueWriter(const DialogueLayout& layout) : layout_(layout) {}
  Prompt prompt(std::string_view text) const override;
  std::vector<int64_t> answer(std::string_view text) const override { return layout_.tokenizer().encode(text); }
  std::string piece(int64_t id, bool first) const override;
  std::string text(std::span<const int64_t> ids) const override { return layout_.tokenizer().decode(ids); }
  std::vector<int64_t> ends() const override { return {layout_.end()}; }
  std::optional<int64_t> token(std::string_view text) const override;
  int64_t vocab_size() const override { return layout_.start(); }
  bool continues() const override { return false; }
  uint64_t fingerprint() const override;
  const DialogueLayout* dialogue() const override { return &layout_; }

 private:
  DialogueLayout layout_;
};

}  // namespace ordo
