// SPDX-License-Identifier: Apache-2.0
// A model of SentencePiece, unigram or BPE.
#pragma once
#include "ordo/data/file_tokenizer.h"
#include "ordo/tokenizers/sentencepiece_model.h"

namespace ordo {

class SentencepieceTokenizer final : public FileTokenizer<SentencepieceModel> {
 public:
  struct Config {
    fs::path file;
  };
  static constexpr std::string_view kKind = "sentencepiece",
                                    kSummary = "a SentencePiece model, unigram or BPE (ordo tokenizer train makes one)";
  SentencepieceTokenizer(const Config& config, const TokenizerFacts& facts)
      : FileTokenizer(kKind, "tokenizer.model", config.file, facts) {}
};
void fields(Fields& f, SentencepieceTokenizer::Config& c);

}  // namespace ordo
