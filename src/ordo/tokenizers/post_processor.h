// SPDX-License-Identifier: Apache-2.0
// `post_processor` of a tokenizer.json: the special tokens around a text or a pair of texts.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "ordo/tokenizers/encoded.h"
#include "ordo/tokenizers/json_view.h"
#include "ordo/tokenizers/vocabulary.h"

namespace ordo {

class PostProcessor {
 public:
  // Adds nothing: a pair is a text after another, of types 0 and 1.
  PostProcessor();
  // Takes TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel (which concerns places in the text alone)
  // and a Sequence with one that adds tokens. `size`: ids are below it. Throws DataError with the path in the file.
  PostProcessor(const JsonView& part, int64_t size);
  Encoded process(const std::vector<int64_t>& text, const std::vector<int64_t>* pair) const;

 private:
  struct Piece {
    enum class What { text, pair, ids } what;
    std::vector<int64_t> ids;
    int64_t type;
  };
  using Template = std::vector<Piece>;
  void read(const JsonView& part, int64_t size);
  void read_template(const JsonView& part, int64_t size);
  void read_bert(const JsonView& part, int64_t size, bool roberta);
  Template single_, pair_;
};

}  // namespace ordo
