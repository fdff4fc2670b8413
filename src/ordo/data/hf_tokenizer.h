// SPDX-License-Identifier: Apache-2.0
// A tokenizer that Hugging Face's library wrote: byte-level BPE, WordPiece, Unigram, BPE with byte fallback.
#pragma once
#include "ordo/data/tokenizer.h"
#include "ordo/tokenizers/hf_pipeline.h"

namespace ordo {

class HfTokenizer final : public Tokenizer {
 public:
  struct Config {
    fs::path file;
  };
  static constexpr std::string_view kKind = "hf",
                                    kSummary = "a tokenizer.json of Hugging Face: BPE, WordPiece, Unigram";
  static constexpr std::string_view kFile = "tokenizer.json";  // what it is called in a folder
  HfTokenizer(const Config& config, const TokenizerFacts& facts);
  std::string_view kind() const override { return kKind; }
  int64_t vocab_size() const override { return pipeline_->vocab_size(); }
  std::vector<int64_t> encode(std::string_view text) const override { return pipeline_->encode(text); }
  Encoded encode_special(std::string_view text, std::optional<std::string_view> pair) const override {
    return pipeline_->encode_special(text, pair);
  }
  std::string decode(std::span<const int64_t> ids) const override { return pipeline_->decode(ids); }
  std::string piece(int64_t id) const override { return pipeline_->piece(id); }
  bool is_special(int64_t id) const override { return pipeline_->is_special(id); }
  std::optional<int64_t> find(std::string_view token) const override { return pipeline_->find(token); }
  void save(const fs::path& folder) const override;
  uint64_t fingerprint() const override;

 private:
  std::string content_;  // of the file, as it is saved again
  std::unique_ptr<const HfPipeline> pipeline_;
};
void fields(Fields& f, HfTokenizer::Config& c);

}  // namespace ordo
