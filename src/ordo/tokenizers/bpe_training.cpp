// SPDX-License-Identifier: Apache-2.0
#include "ordo/tokenizers/bpe_training.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

#include "ordo/tokenizers/normalizer.h"
#include "ordo/tokenizers/pre_tokenizer.h"
#include "ordo/tokenizers/unicode.h"
#include "ordo/tokenizers/vocabulary.h"

namespace ordo {

namespace {

using TokenPair = std::pair<int64_t, int64_t>;

Json byte_level_part() {
  return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
}

// The pieces of the texts, as visible characters, and how often each is there.
std::map<std::string, int64_t> pieces_of(const std::vector<std::string>& texts) {
  const Json part = byte_level_part();
  const PreTokenizer cut = read_pre_tokenizer(JsonView(part, "pre_tokenizer"));
  std::map<std::string, int64_t> counts;
  for (const auto& text : texts)
    cut(text, /*first=*/true, [&](std::string_view piece, bool) { ++counts[std::string(piece)]; });
  return counts;
}

// Symbols, then a character for each byte, in the order of code points.
Vocabulary first_tokens(const BpeTraining& settings) {
  Vocabulary tokens;
  for (const auto& symbol : settings.symbols)
    require<ConfigError>(!symbol.empty() && tokens.add(symbol, tokens.size()),
                         "the symbol '{}' is empty or given twice", symbol);
  std::vector<std::string> bytes;
  for (unsigned byte = 0; byte < 256; ++byte) bytes.push_back(visible_bytes(std::string(1, static_cast<char>(byte))));
  std::sort(bytes.begin(), bytes.end());  // UTF-8 sorts as its code points
  for (auto& byte : bytes)
    if (!tokens.find(byte)) tokens.add(std::move(byte), tokens.size());
  return tokens;
}

class Learner {
 public:
  Learner(const BpeTraining& settings, const std::vector<std::string>& texts)
      : settings_(settings), tokens_(first_tokens(settings)) {
    require_vocab_size(settings.vocab_size, tokens_.size());
    for (const auto& [piece, count] : pieces_of(texts)) {
      Word word{.count = count};
      each_character(piece, [&](char32_t, std::string_view byte) { word.ids.push_back(*tokens_.find(byte)); });
      words_.push_back(std::move(word));
    }
    for (size_t i = 0; i < words_.size(); ++i) count_pairs(i, words_[i].count);
    for (const auto& [pair, count] : counts_) queue_.push({count, pair});
  }

  void learn() {
    while (tokens_.size() < settings_.vocab_size && !queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      const int64_t now = counts_[best.pair];
      if (now != best.count) {  // it was joined to others meanwhile
        if (now > 0) queue_.push({now, best.pair});
        continue;
      }
      if (now < std::max<int64_t>(settings_.at_least, 1)) break;
      join(best.pair);
    }
  }

  const Vocabulary& tokens() const { return tokens_; }
  const std::vector<TokenPair>& merges() const { return merges_; }

 private:
  struct Word {
    std::vector<int64_t> ids = {};
    int64_t count = 0;
  };
  struct Candidate {
    int64_t count;
    TokenPair pair;
    // The queue's top is the largest: the most frequent, of those the one with the smallest ids.
    bool operator<(const Candidate& other) const {
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };

  void count_pairs(size_t index, int64_t change) {
    const auto& ids = words_[index].ids;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      const TokenPair pair{ids[i], ids[i + 1]};
      counts_[pair] += change;
      if (change > 0 && (places_[pair].empty() || places_[pair].back() != index)) places_[pair].push_back(index);
    }
  }

  void join(const TokenPair& pair) {
    const std::string made = *tokens_.token(pair.first) + *tokens_.token(pair.second);
    if (!tokens_.find(made)) tokens_.add(made, tokens_.size());  // else another pair made the same text
    const int64_t id = *tokens_.find(made);
    merges_.push_back(pair);
    std::vector<size_t> places = std::move(places_[pair]);
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    std::set<TokenPair> fresh;
    for (const size_t index : places) {
      count_pairs(index, -words_[index].count);
      join_in(words_[index].ids, pair, id);
      count_pairs(index, words_[index].count);
      const auto& ids = words_[index].ids;
      for (size_t i = 0; i + 1 < ids.size(); ++i)
        if (ids[i] == id || ids[i + 1] == id) fresh.insert({ids[i], ids[i + 1]});
    }
    for (const auto& one : fresh) queue_.push({counts_[one], one});
  }

  static void join_in(std::vector<int64_t>& ids, const TokenPair& pair, int64_t id) {
    size_t kept = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      const bool joins = i + 1 < ids.size() && ids[i] == pair.first && ids[i + 1] == pair.second;
      ids[kept++] = joins ? id : ids[i];
      if (joins) ++i;
    }
    ids.resize(kept);
  }

  BpeTraining settings_;
  Vocabulary tokens_;
  std::vector<Word> words_;
  std::vector<TokenPair> merges_;
  std::map<TokenPair, int64_t> counts_;
  std::map<TokenPair, std::vector<size_t>> places_;  // words in which a pair is or was
  std::priority_queue<Candidate> queue_;
};

}  // namespace

std::string train_byte_bpe(const BpeTraining& settings, const std::vector<std::string>& texts) {
  Learner learner(settings, texts);
  learner.learn();
  Json vocab = Json::object(), merges = Json::array(), added = Json::array();
  const auto& tokens = learner.tokens();
  auto& members = vocab.get_ref<Json::object_t&>();  // its own insertion searches all keys again
  for (int64_t id = 0; id < tokens.size(); ++id) members.emplace_back(*tokens.token(id), id);
  for (const auto& [left, right] : learner.merges())
    merges.push_back(Json::array({*tokens.token(left), *tokens.token(right)}));
  for (size_t id = 0; id < settings.symbols.size(); ++id)
    added.push_back({{"id", id},
                     {"content", settings.symbols[id]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  const Json model{{"type", "BPE"},
                   {"dropout", nullptr},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", nullptr},
                   {"end_of_word_suffix", nullptr},
                   {"fuse_unk", false},
                   {"byte_fallback", false},
                   {"ignore_merges", false},
                   {"vocab", std::move(vocab)},
                   {"merges", std::move(merges)}};
  return json_text({{"version", "1.0"},
                    {"truncation", nullptr},
                    {"padding", nullptr},
                    {"added_tokens", std::move(added)},
                    {"normalizer", nullptr},
                    {"pre_tokenizer", byte_level_part()},
                    {"post_processor", nullptr},
                    {"decoder", byte_level_part()},
                    {"model", model}});
}

}  // namespace ordo
