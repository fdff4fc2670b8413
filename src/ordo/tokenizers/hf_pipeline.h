// SPDX-License-Identifier: Apache-2.0
// A tokenizer as Hugging Face's library writes it into one file, tokenizer.json: added tokens are cut out, the rest is
// normalised, cut into pieces, given to the model; a post-processor adds special tokens, a decoder makes text again.
// Ids and texts are those of that library; but its `truncation` and `padding`, settings of batches, are not applied,
// which the log says of a file that has them.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ordo/tokenizers/added_tokens.h"
#include "ordo/tokenizers/decoder.h"
#include "ordo/tokenizers/post_processor.h"
#include "ordo/tokenizers/pre_tokenizer.h"
#include "ordo/tokenizers/text_model.h"

namespace ordo {

class HfPipeline {
 public:
  // The content of a file; throws DataError with `name` and the path in it where something is missing, broken, of an
  // unknown kind or out of range.
  HfPipeline(std::string_view json, const std::string& name);

  int64_t vocab_size() const;  // the largest id and one: some ids below may be free
  // Without special tokens, except those that the text has. The text must be valid UTF-8 (DataError).
  std::vector<int64_t> encode(std::string_view text) const;
  Encoded encode_special(std::string_view text, std::optional<std::string_view> pair) const;
  std::string decode(std::span<const int64_t> ids) const;
  // What one token adds to a text, in bytes, if it is not its first.
  std::string piece(int64_t id) const;
  bool is_special(int64_t id) const { return added_.is_special(id); }
  std::optional<int64_t> find(std::string_view token) const;

 private:
  const std::string& token(int64_t id) const;  // "" for a free one; throws DataError beyond the vocabulary
  bool drops_start(std::string_view text) const;
  void encode_part(std::string_view text, bool first, std::vector<int64_t>& ids) const;
  std::unique_ptr<const TextModel> model_;
  Normalizer normalizer_;  // may be empty, as the next two
  PreTokenizer pre_tokenizer_;
  Decoder decoder_;
  AddedTokens added_;
  PostProcessor post_processor_;
};

}  // namespace ordo
