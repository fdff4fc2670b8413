// SPDX-License-Identifier: Apache-2.0
// Prompts and answers of a translation.
#pragma once
#include <functional>

#include "ordo/tasks/text_writer.h"

namespace ordo {

// A text is a source, its answer a target; the id behind the targets' vocabulary is the mark of the end. Both
// tokenizers must outlive it.
class TranslationWriter final : public TextWriter {
 public:
  // What the model is given for the tokens of a source.
  using Layout = std::function<Prompt(std::vector<int64_t>)>;
  TranslationWriter(const Tokenizer& source, const Tokenizer& target, Layout layout)
      : source_(source), target_(target), layout_(std::move(layout)) {}
  Prompt prompt(std::string_view text) const override;
  std::vector<int64_t> answer(std::string_view text) const override { return target_.encode(text); }
  std::string piece(int64_t id, bool first) const override;
  std::string text(std::span<const int64_t> ids) const override { return target_.decode(ids); }
  std::vector<int64_t> ends() const override { return {target_.vocab_size()}; }
  std::optional<int64_t> token(std::string_view text) const override;
  int64_t vocab_size() const override { return target_.vocab_size() + 1; }
  bool continues() const override { return false; }
  uint64_t fingerprint() const override;

 private:
  const Tokenizer& source_;
  const Tokenizer& target_;
  Layout layout_;
};

}  // namespace ordo
