// SPDX-License-Identifier: Apache-2.0
// A tokenizer that Hugging Face's library wrote: byte-level BPE, WordPiece, Unigram, BPE with byte fallback.
#pragma once
#include "ordo/data/file_tokenizer.h"
#include "ordo/tokenizers/hf_pipeline.h"

namespace ordo {

class HfTokenizer final : public FileTokenizer<HfPipeline> {
 public:
  struct Config {
    fs::path file;
  };
  static constexpr std::string_view kKind = "hf",
                                    kSummary = "a tokenizer.json of Hugging Face: BPE, WordPiece, Unigram";
  HfTokenizer(const Config& config, const TokenizerFacts& facts)
      : FileTokenizer(kKind, "tokenizer.json", config.file, facts) {}
};
void fields(Fields& f, HfTokenizer::Config& c);

}  // namespace ordo
