// SPDX-License-Identifier: Apache-2.0
// How the model of a task is asked in text, and what it answers is read: all that generating needs of a task.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/data/tokenizer.h"
#include "ordo/generate/generate.h"

namespace ordo {

class DialogueLayout;  // dialogue_layout.h

class TextWriter {
 public:
  virtual ~TextWriter() = default;
  virtual Prompt prompt(std::string_view text) const = 0;  // throws DataError for what its vocabulary has not
  // The tokens of an answer that is given, without what ends it; throws DataError as prompt does.
  virtual std::vector<int64_t> answer(std::string_view text) const = 0;
  // One token of an answer as it is streamed, `first` of them or not: bytes that a Utf8Joiner makes whole.
  virtual std::string piece(int64_t id, bool first) const = 0;
  virtual std::string text(std::span<const int64_t> ids) const = 0;
  virtual std::vector<int64_t> ends() const { return {}; }                // ids that end an answer, whatever else does
  virtual std::optional<int64_t> token(std::string_view text) const = 0;  // the one that is written so, if there is one
  virtual int64_t vocab_size() const = 0;                                 // of what may be written
  virtual bool continues() const = 0;        // an answer goes on from its prompt, and is shown behind it
  virtual uint64_t fingerprint() const = 0;  // those alike write with the same ids
  // How its model reads a dialogue; null when it has not learned any.
  virtual const DialogueLayout* dialogue() const { return nullptr; }
};

// Goes on from a text in the tokens of a tokenizer, which must outlive it.
class TokenizerWriter final : public TextWriter {
 public:
  explicit TokenizerWriter(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
  Prompt prompt(std::string_view text) const override { return {.ids = tokenizer_.encode(text)}; }
  std::vector<int64_t> answer(std::string_view text) const override { return tokenizer_.encode(text); }
  std::string piece(int64_t id, bool first) const override;
  std::string text(std::span<const int64_t> ids) const override { return tokenizer_.decode(ids); }
  std::optional<int64_t> token(std::string_view text) const override;
  int64_t vocab_size() const override { return tokenizer_.vocab_size(); }
  bool continues() const override { return true; }
  uint64_t fingerprint() const override { return tokenizer_.fingerprint(); }

 private:
  const Tokenizer& tokenizer_;
};

}  // namespace ordo
