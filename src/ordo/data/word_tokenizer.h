// SPDX-License-Identifier: Apache-2.0
// One token a word: what stands between white space. A line break is a token of its own, so that lines stay lines;
// other white space becomes one space when ids become text again.
#pragma once
#include "ordo/data/tokenizer.h"
#include "ordo/tokenizers/vocabulary.h"

namespace ordo {

class WordTokenizer final : public Tokenizer {
 public:
  struct Config {
    fs::path file = {};    // a word a line; empty: learned from the training text
    int64_t size = 0;      // learned: the most frequent words; 0: all
    int64_t at_least = 1;  // learned: words that are there so often
  };
  static constexpr std::string_view kKind = "word",
                                    kSummary = "one token a word, from a file of words or the training text";
  static constexpr std::string_view kUnknown = "<unk>";
  static constexpr std::string_view kBreak = R"(\n)";  // how a file of words writes the line break
  WordTokenizer(const Config& config, const TokenizerFacts& facts);
  std::string_view kind() const override { return kKind; }
  int64_t vocab_size() const override { return words_.size(); }
  // A word that is not in the vocabulary is <unk>; without an <unk> there a DataError that names it and its place.
  std::vector<int64_t> encode(std::string_view text) const override;
  std::string decode(std::span<const int64_t> ids) const override;
  std::string piece(int64_t id) const override;  // " word"
  bool is_special(int64_t id) const override { return unknown_ == id; }
  std::optional<int64_t> find(std::string_view token) const override { return words_.find(token); }
  void save(const fs::path& folder) const override;
  uint64_t fingerprint() const override;
  std::string file_text() const;  // as a file of words, which reads back to the same

 private:
  void add(const std::string& word, const std::string& place);
  void read_words(const fs::path& path);
  void learn(std::string_view text, const Config& config);
  void load(const fs::path& folder);
  const std::string& word(int64_t id) const;
  Vocabulary words_;
  std::optional<int64_t> unknown_;
};
void fields(Fields& f, WordTokenizer::Config& c);

}  // namespace ordo
