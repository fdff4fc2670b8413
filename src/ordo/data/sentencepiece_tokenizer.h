// SPDX-License-Identifier: Apache-2.0
// A model of SentencePiece, unigram or BPE.
#pragma once
#include "ordo/data/file_tokenizer.h"
#include "ordo/tokenizers/sentencepiece_model.h"

namespace ordo {

class SentencepieceTokenizer final : public FileTokenizer<SentencepieceModel> {
 public:
  enum class Algorithm { unigram, bpe };
  struct Config {
    fs::path file;                            // empty: learned from the training text, by the settings below
    std::optional<int64_t> vocab_size = {};   // 8000
    std::optional<Algorithm> algorithm = {};  // unigram
    std::optional<double> coverage = {};      // 0.9995
  };
  static constexpr std::string_view kKind = "sentencepiece",
                                    kSummary =
                                        "a SentencePiece model, unigram or BPE, from a file or the training text";
  // Throws ConfigError when there is neither a file nor a text, when settings of learning stand beside a file, or the
  // text does not allow so many pieces.
  SentencepieceTokenizer(const Config& config, const TokenizerFacts& facts);
};
void fields(Fields& f, SentencepieceTokenizer::Config& c);

}  // namespace ordo
