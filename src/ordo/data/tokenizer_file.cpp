// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/tokenizer_file.h"

#include "ordo/core/text.h"
#include "ordo/data/hf_tokenizer.h"
#include "ordo/data/sentencepiece_tokenizer.h"
#include "ordo/data/word_tokenizer.h"

namespace ordo {

namespace {

std::shared_ptr<const Tokenizer> open_folder(const fs::path& folder) {
  if (fs::exists(folder / "vocabulary.json")) {
    const std::string kind = saved_kind(folder);
    return tokenizers().build(kind, {.saved = folder});
  }
  for (const char* inside : {"tokenizer.json", "tokenizer.model", "spm.model", "spiece.model", "tokenizer"})
    if (fs::exists(folder / inside)) return open_tokenizer(folder / inside);
  throw DataError(fmt::format(
      "{} has no tokenizer: a saved one (vocabulary.json), a tokenizer.json or a tokenizer.model is looked for",
      folder.string()));
}

}  // namespace

std::string read_tokenizer_file(const fs::path& path) {
  std::error_code ignored;
  const bool regular = fs::is_regular_file(path, ignored);
  const uint64_t size = regular ? fs::file_size(path, ignored) : 0;
  require<DataError>(size <= kLargestTokenizer, "{} has {}; a tokenizer's file of up to {} is read", path.string(),
                     bytes_text(static_cast<double>(size)), bytes_text(static_cast<double>(kLargestTokenizer)));
  require<DataError>(regular || !fs::exists(path, ignored), "cannot read {}: it is no regular file", path.string());
  return read_file(path);
}

std::shared_ptr<const Tokenizer> open_tokenizer(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return open_folder(path);
  require<DataError>(fs::exists(path, ignored), "cannot read {}: there is no such file", path.string());
  const TokenizerFacts none;
  const std::string ending = path.extension().string();
  if (ending == ".json") return std::make_shared<HfTokenizer>(HfTokenizer::Config{path}, none);
  if (ending == ".model" || ending == ".spm")
    return std::make_shared<SentencepieceTokenizer>(SentencepieceTokenizer::Config{path}, none);
  if (ending == ".txt") return std::make_shared<WordTokenizer>(WordTokenizer::Config{.file = path}, none);
  throw DataError(
      fmt::format("{} is not known to be a tokenizer by its name: a tokenizer.json, a .model or .spm file "
                  "of SentencePiece, or a .txt file with a word a line",
                  path.string()));
}

}  // namespace ordo
