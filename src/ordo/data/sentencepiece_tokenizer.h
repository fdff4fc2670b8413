// SPDX-License-Identifier: Apache-2.0
// A model of SentencePiece, unigram or BPE.
#pragma once
#include "ordo/data/tokenizer.h"
#include "ordo/tokenizers/sentencepiece_model.h"

namespace ordo {

class SentencepieceTokenizer final : public Tokenizer {
 public:
  struct Config {
    fs::path file;
  };
  static constexpr std::string_view kKind = "sentencepiece",
                                    kSummary = "a SentencePiece model, unigram or BPE (ordo tokenizer train makes one)";
  static constexpr std::string_view kFile = "tokenizer.model";  // what it is called in a folder
  SentencepieceTokenizer(const Config& config, const TokenizerFacts& facts);
  std::string_view kind() const override { return kKind; }
  int64_t vocab_size() const override { return model_->vocab_size(); }
  std::vector<int64_t> encode(std::string_view text) const override { return model_->encode(text); }
  // <s> text </s>, as far as the model has them; of a pair the second follows without another <s>.
  Encoded encode_special(std::string_view text, std::optional<std::string_view> pair) const override;
  std::string decode(std::span<const int64_t> ids) const override { return model_->decode(ids); }
  std::string piece(int64_t id) const override { return model_->piece(id); }
  bool is_special(int64_t id) const override { return model_->is_special(id); }
  std::optional<int64_t> find(std::string_view token) const override { return model_->find(token); }
  void save(const fs::path& folder) const override;
  uint64_t fingerprint() const override;

 private:
  std::string content_;  // of the file, as it is saved again
  std::unique_ptr<const SentencepieceModel> model_;
};
void fields(Fields& f, SentencepieceTokenizer::Config& c);

}  // namespace ordo
