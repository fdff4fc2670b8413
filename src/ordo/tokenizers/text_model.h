// SPDX-License-Identifier: Apache-2.0
// The heart of a tokenizer.json: a piece of text, already normalised and cut, becomes ids of a vocabulary.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "ordo/tokenizers/json_view.h"
#include "ordo/tokenizers/vocabulary.h"

namespace ordo {

class TextModel {
 public:
  virtual ~TextModel() = default;
  // Adds the ids of a piece that is valid UTF-8 and not empty.
  virtual void encode(std::string_view piece, std::vector<int64_t>& ids) const = 0;
  const Vocabulary& vocabulary() const { return vocabulary_; }

 protected:
  explicit TextModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  Vocabulary vocabulary_;
};

// `model` of a tokenizer.json: BPE, WordPiece, Unigram or WordLevel; files without a type are told apart by what they
// hold. Throws DataError with the path in the file.
std::unique_ptr<TextModel> read_text_model(const JsonView& model);

// A vocabulary written as {"token": id, …}.
Vocabulary read_vocabulary_of(const JsonView& model);
// A token named by a setting (unk_token), which the vocabulary must have; nothing when the setting is absent or empty.
std::optional<int64_t> token_setting(const JsonView& model, std::string_view key, const Vocabulary& vocabulary);
// One per model, called by read_text_model.
std::unique_ptr<TextModel> read_bpe(const JsonView& model);
std::unique_ptr<TextModel> read_word_piece(const JsonView& model);
std::unique_ptr<TextModel> read_unigram(const JsonView& model);
std::unique_ptr<TextModel> read_word_level(const JsonView& model);

}  // namespace ordo
