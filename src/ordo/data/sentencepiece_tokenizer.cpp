// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/sentencepiece_tokenizer.h"

#include <nlohmann/json.hpp>

#include "ordo/core/hash.h"
#include "ordo/data/tokenizer_file.h"

namespace ordo {

SentencepieceTokenizer::SentencepieceTokenizer(const Config& config, const TokenizerFacts& facts) {
  const bool saved = !facts.saved.empty();
  if (saved) read_vocabulary(facts.saved, kKind);
  require<ConfigError>(saved || !config.file.empty(),
                       "'file' is missing: the model to use; 'ordo tokenizer train' makes one");
  const fs::path path = saved ? facts.saved / kFile : config.file;
  content_ = read_tokenizer_file(path);
  model_ = std::make_unique<const SentencepieceModel>(content_, path.string());
}

Encoded SentencepieceTokenizer::encode_special(std::string_view text, std::optional<std::string_view> pair) const {
  Encoded all;
  const auto add = [&](const std::vector<int64_t>& ids, int64_t type) {
    all.ids.insert(all.ids.end(), ids.begin(), ids.end());
    all.types.resize(all.ids.size(), type);
  };
  const auto add_special = [&](std::optional<int64_t> id, int64_t type) {
    if (id) add({*id}, type);
  };
  add_special(model_->begin(), 0);
  add(encode(text), 0);
  add_special(model_->end(), 0);
  if (!pair) return all;
  add(encode(*pair), 1);
  add_special(model_->end(), 1);
  return all;
}

void SentencepieceTokenizer::save(const fs::path& folder) const {
  write_vocabulary(folder, kKind, Json::object());
  write_file(folder / kFile, content_);
}

uint64_t SentencepieceTokenizer::fingerprint() const { return key_of(key_of(0, kKind), content_); }

void fields(Fields& f, SentencepieceTokenizer::Config& c) {
  f("file", c.file, "a .model file of SentencePiece", required());
}

}  // namespace ordo
