// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/word_tokenizer.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "ordo/core/hash.h"
#include "ordo/core/text.h"
#include "ordo/core/utf8.h"
#include "ordo/data/text_file.h"
#include "ordo/data/tokenizer_file.h"

namespace ordo {

namespace {

constexpr std::string_view kLineBreak = "\n";

// Calls visit(word, its offset) for each word and line break.
template <class Visit>
void each_word(std::string_view text, const Visit& visit) {
  size_t begin = 0, at = 0;
  const auto end_word = [&] {
    if (begin < at) visit(text.substr(begin, at - begin), begin);
  };
  each_character(text, [&](char32_t code, std::string_view bytes) {
    if (is_space(code)) {
      end_word();
      if (code == '\n') visit(kLineBreak, at);
      begin = at + bytes.size();
    }
    at += bytes.size();
  });
  end_word();
}

}  // namespace

WordTokenizer::WordTokenizer(const Config& config, const TokenizerFacts& facts) {
  if (!facts.saved.empty()) {
    load(facts.saved);
  } else if (!config.file.empty()) {
    require<ConfigError>(config.size == 0 && config.at_least == 1,
                         "'size' and 'at_least' are of a vocabulary that is learned; 'file' gives one");
    read_words(config.file);
  } else {
    require<ConfigError>(
        config.size != 1,
        "the word tokenizer's size is 1, which leaves room for {} alone and for no word: give 2 or more, or 0 for all "
        "words",
        kUnknown);
    require<ConfigError>(static_cast<bool>(facts.text),
                         "the word tokenizer learns its words from training text, and there is none; give 'file'");
    learn(facts.text(), config);
  }
}

void WordTokenizer::add(const std::string& word, const std::string& place) {
  const int64_t id = words_.size();
  require<DataError>(id < kMostTokens, "{}: more than {} words", place, kMostTokens);
  require<DataError>(!word.empty(), "{}: an empty word", place);
  const bool spaced = [&] {
    const std::u32string codes = code_points(word);
    return word != kLineBreak && std::any_of(codes.begin(), codes.end(), is_space);
  }();
  require<DataError>(!spaced, "{}: the word '{}' has white space in it", place, word);
  if (word == kUnknown) unknown_ = id;
  require<DataError>(words_.add(word, id), "{}: the word '{}' is there twice", place, word);
}

void WordTokenizer::read_words(const fs::path& path) {
  std::string text = read_text(path, kLargestTokenizer);
  if (text.ends_with('\n')) text.pop_back();
  int64_t line = 0;
  for (const std::string& word : split(text, '\n'))
    add(word == kBreak ? std::string(kLineBreak) : word, fmt::format("{}: line {}", path.string(), ++line));
}

void WordTokenizer::learn(std::string_view text, const Config& config) {
  std::map<std::string_view, int64_t> counts;
  each_word(text, [&](std::string_view word, size_t) { ++counts[word]; });
  counts.erase(kUnknown);
  counts.erase(kBreak);  // in a file it would be the line break
  std::vector<std::pair<std::string_view, int64_t>> words(counts.begin(), counts.end());
  std::stable_sort(words.begin(), words.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  const std::string place = "the training text";
  add(std::string(kUnknown), place);
  for (const auto& [word, count] : words) {
    if (count < config.at_least || (config.size > 0 && words_.size() >= config.size)) break;
    add(std::string(word), place);
  }
  require<DataError>(words_.size() > 1,
                     "the training text has no word that is there {} times or more: the word "
                     "tokenizer has no vocabulary",
                     config.at_least);
}

void WordTokenizer::load(const fs::path& folder) {
  const Json content = read_vocabulary(folder, kKind);
  const std::string place = (folder / "vocabulary.json").string();
  const auto found = content.find("words");
  require<DataError>(found != content.end() && found->is_array() && !found->empty(),
                     "{}: \"words\" must be an array of all words, by id", place);
  for (const Json& word : *found) {
    require<DataError>(word.is_string(), "{}: words[{}] is no string", place, words_.size());
    add(word.get<std::string>(), place);
  }
}

std::vector<int64_t> WordTokenizer::encode(std::string_view text) const {
  size_t bad = 0;
  require<DataError>(valid_utf8(text, &bad), "the text is not valid UTF-8 at byte {}", bad);
  std::vector<int64_t> ids;
  each_word(text, [&](std::string_view word, size_t offset) {
    const auto known = words_.find(word);
    if (!known && !unknown_)
      throw DataError(
          fmt::format("{}: unknown word '{}': the word tokenizer has {} words and no {} among them for the others",
                      place_in(text, offset).text(), word == kLineBreak ? kBreak : word, vocab_size(), kUnknown));
    ids.push_back(known ? *known : *unknown_);
  });
  return ids;
}

const std::string& WordTokenizer::word(int64_t id) const {
  const std::string* const found = words_.token(id);
  require<DataError>(found != nullptr, "token id {} is not in the vocabulary of the word tokenizer (0 … {})", id,
                     vocab_size() - 1);
  return *found;
}

std::string WordTokenizer::decode(std::span<const int64_t> ids) const {
  std::string text;
  for (const int64_t id : ids) {
    const std::string& one = word(id);
    if (one != kLineBreak && !text.empty() && !text.ends_with('\n')) text += ' ';
    text += one;
  }
  return text;
}

std::string WordTokenizer::piece(int64_t id) const {
  const std::string& one = word(id);
  return one == kLineBreak ? one : " " + one;
}

void WordTokenizer::save(const fs::path& folder) const {
  Json words = Json::array();
  for (int64_t id = 0; id < vocab_size(); ++id) words.push_back(word(id));
  Json content = Json::object();
  content["words"] = std::move(words);
  write_vocabulary(folder, kKind, std::move(content));
}

std::string WordTokenizer::file_text() const {
  std::string text;
  for (int64_t id = 0; id < vocab_size(); ++id)
    text.append(word(id) == kLineBreak ? kBreak : std::string_view(word(id))).append("\n");
  return text;
}

uint64_t WordTokenizer::fingerprint() const { return key_of(key_of(0, kKind), file_text()); }

void fields(Fields& f, WordTokenizer::Config& c) {
  f("file", c.file, R"(a word a line, in the order of ids; <unk> stands for all others, \n for the line break)");
  f("size", c.size, "without a file: so many words at most, the most frequent ones, <unk> among them; 0 = all",
    at_least(0));
  f("at_least", c.at_least, "without a file: only words that are in the training text so often", at_least(1));
}

}  // namespace ordo
