// SPDX-License-Identifier: Apache-2.0
// From the `data` of a config to the token sequences of its splits.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ordo/data/batch.h"
#include "ordo/data/documents.h"
#include "ordo/data/mixture.h"
#include "ordo/data/records.h"
#include "ordo/data/text_source.h"
#include "ordo/data/tokenizer.h"
#include "ordo/data/tokens.h"

namespace ordo {

struct DataConfig {
  std::vector<fs::path> train, validation,
      test;  // .bin: token ids; all else: text (.gz and .zst packed). Patterns with * ? [] are expanded
  std::vector<double> weights = {};  // of the entries of train; empty: every token counts alike
  // The last part of the training tokens, with weights of each entry's, is validation.
  double validation_fraction = 0.0;
  RecordFormat format = RecordFormat::automatic;  // of files with a column
  std::string column;  // of tables and JSON lines: where the text of a row is; a blank line goes behind each
  Documents documents = Documents::file;
  TokenType token_type = TokenType::uint16;  // of .bin files without a header
  std::optional<int64_t> buffer = {};        // MiB, of a training text that is streamed
  OnBadLine on_bad_line = OnBadLine::stop;
  std::optional<Choice<TextSource>> generate = {};  // instead of files
};
void fields(Fields& f, DataConfig& c);

// What is wrong with the settings alone, one sentence each; keys are named with `path` ("task.data") before them.
std::vector<std::string> contradictions(const DataConfig& config, const std::string& path);

// The same for training files that are streamed.
std::vector<std::string> streamed_contradictions(const DataConfig& config, const std::string& path);

// Reads files when they are first needed. For one thread.
class Corpus {
 public:
  Corpus(DataConfig config, uint64_t seed) : config_(std::move(config)), seed_(seed) {}
  bool has(Split split) const;
  bool has_text() const;  // training text that a tokenizer can learn from
  // All of data.train (what validation_fraction takes away included), in which a tokenizer learns its vocabulary.
  std::string training_text();
  // Encoded; `tokenizer` is null for token files alone. Throws DataError with file and line for a character that it
  // does not know.
  std::shared_ptr<const TokenSequence> tokens(Split split, const Tokenizer* tokenizer, int64_t vocab_size);
  // With weights the parts of the training tokens, one behind the other; known once these are.
  const std::vector<MixedPart>& parts() const { return parts_; }
  // BadLines::sentence() of the files of a split; known once its tokens are.
  std::string left_out(Split split) const { return bad_[static_cast<size_t>(split)].sentence(); }

 private:
  struct File {
    fs::path path;  // of made text: what it is
    std::string text;
    bool is_ids = false;  // a token file: mapped when it is encoded, no text
    size_t entry = 0;     // of the list of files
  };
  const std::vector<fs::path>& files(Split split) const;
  std::vector<File> read(Split split);  // in the order given
  void encode(const File& file, const Tokenizer* tokenizer, int64_t vocab_size, BadLines& bad,
              TokenSequence& into) const;
  // By weight: of each entry of the training files; else one.
  std::vector<TokenSequence> encoded(Split split, const Tokenizer* tokenizer, int64_t vocab_size);
  void keep(Split split, std::vector<TokenSequence> parts);
  void keep_cut(const std::vector<TokenSequence>& parts);
  DataConfig config_;
  uint64_t seed_;
  std::vector<File> training_files_;  // between training_text() and the encoding of the training split
  std::array<BadLines, 3> bad_;       // by Split, of its files
  std::array<std::shared_ptr<const TokenSequence>, 3> tokens_;  // by Split
  std::vector<MixedPart> parts_;                                // of those of training
};

}  // namespace ordo
