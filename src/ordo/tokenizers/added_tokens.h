// SPDX-License-Identifier: Apache-2.0
// `added_tokens` of a tokenizer.json: tokens that are cut out of a text before anything else looks at it.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ordo/tokenizers/json_view.h"
#include "ordo/tokenizers/normalizer.h"
#include "ordo/tokenizers/regex.h"
#include "ordo/tokenizers/vocabulary.h"

namespace ordo {

class AddedTokens {
 public:
  AddedTokens() = default;
  // `model`: the vocabulary of the model, which may have some of them already, under the same id. Throws DataError with
  // the path in the file.
  AddedTokens(const JsonView& list, const Vocabulary& model, const Normalizer& normalizer);

  // A part of a text: a token, or text between tokens.
  struct Part {
    Span span;
    std::optional<int64_t> token;
  };
  // Tokens that are looked for in the text as it was given, or after it was normalised. Of tokens that begin at the
  // same place the longest is taken.
  std::vector<Part> split(std::string_view text, bool normalized) const;

  const std::string* token(int64_t id) const;  // null: none of these
  std::optional<int64_t> find(std::string_view text) const;
  bool is_special(int64_t id) const { return special_.contains(id); }
  int64_t size() const { return own_.size(); }  // the largest id and one

 private:
  struct Rule {
    int64_t id;
    bool single_word, takes_left, takes_right;  // takes: swallows the white space there
  };
  bool stands_alone(std::string_view text, Span match) const;
  Vocabulary own_;
  std::unordered_set<int64_t> special_;
  std::vector<Rule> rules_;
  ByteTree raw_, after_;  // by text, to a place in rules_
  std::optional<Regex> word_;
};

}  // namespace ordo
