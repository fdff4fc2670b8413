// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/hf_tokenizer.h"

#include <nlohmann/json.hpp>

#include "ordo/core/hash.h"
#include "ordo/data/tokenizer_file.h"

namespace ordo {

HfTokenizer::HfTokenizer(const Config& config, const TokenizerFacts& facts) {
  const bool saved = !facts.saved.empty();
  if (saved) read_vocabulary(facts.saved, kKind);
  require<ConfigError>(saved || !config.file.empty(), "'file' is missing: the tokenizer.json to use");
  const fs::path path = saved ? facts.saved / kFile : config.file;
  content_ = read_tokenizer_file(path);
  pipeline_ = std::make_unique<const HfPipeline>(content_, path.string());
}

void HfTokenizer::save(const fs::path& folder) const {
  write_vocabulary(folder, kKind, Json::object());
  write_file(folder / kFile, content_);
}

uint64_t HfTokenizer::fingerprint() const { return key_of(key_of(0, kKind), content_); }

void fields(Fields& f, HfTokenizer::Config& c) { f("file", c.file, "a tokenizer.json", required()); }

}  // namespace ordo
