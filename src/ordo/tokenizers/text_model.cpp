// SPDX-License-Identifier: Apache-2.0
#include "ordo/tokenizers/text_model.h"

#include "ordo/tokenizers/unicode.h"

namespace ordo {

namespace {

// A word is a token or it is unknown.
class WordLevel final : public TextModel {
 public:
  WordLevel(Vocabulary vocabulary, std::optional<int64_t> unknown)
      : TextModel(std::move(vocabulary)), unknown_(unknown) {}
  void encode(std::string_view piece, std::vector<int64_t>& ids) const override {
    const auto found = vocabulary_.find(piece);
    ordo::require<DataError>(found || unknown_, "unknown word '{}': the tokenizer has no unk_token for it", piece);
    ids.push_back(found ? *found : *unknown_);
  }

 private:
  std::optional<int64_t> unknown_;
};

// The longest token that the word begins with, then the longest for the rest, whose tokens carry a prefix (Schuster &
// Nakajima 2012). A word that cannot be had so is unknown as a whole.
class WordPiece final : public TextModel {
 public:
  struct Settings {
    int64_t unknown;
    std::string prefix;
    int64_t longest_word;  // in characters; longer ones are unknown
  };
  WordPiece(Vocabulary vocabulary, Settings settings)
      : TextModel(std::move(vocabulary)), settings_(std::move(settings)) {}
  void encode(std::string_view piece, std::vector<int64_t>& ids) const override {
    std::vector<size_t> ends;  // of the word's characters
    each_character(piece, [&](char32_t, std::string_view bytes) {
      ends.push_back((ends.empty() ? 0 : ends.back()) + bytes.size());
    });
    const size_t before = ids.size();
    if (static_cast<int64_t>(ends.size()) <= settings_.longest_word && add_tokens(piece, ends, ids)) return;
    ids.resize(before);
    ids.push_back(settings_.unknown);
  }

 private:
  bool add_tokens(std::string_view word, const std::vector<size_t>& ends, std::vector<int64_t>& ids) const {
    std::string token;
    for (size_t first = 0; first < ends.size();) {
      const size_t from = first == 0 ? 0 : ends[first - 1];
      size_t last = ends.size();
      std::optional<int64_t> found;
      for (; last > first && !found; --last) {
        token = first == 0 ? "" : settings_.prefix;
        token += word.substr(from, ends[last - 1] - from);
        found = vocabulary_.find(token);
      }
      if (!found) return false;
      ids.push_back(*found);
      first = last + 1;
    }
    return true;
  }
  Settings settings_;
};

}  // namespace

Vocabulary read_vocabulary_of(const JsonView& model) {
  const JsonView list = model.at("vocab");
  Vocabulary vocabulary;
  for (const auto& [token, entry] : list.members()) {
    const int64_t id = entry.integer(0, kMostTokens - 1);
    entry.require(vocabulary.add(token, id), "another token has the id {} already", id);
  }
  list.require(vocabulary.size() > 0, "the vocabulary is empty");
  return vocabulary;
}

std::optional<int64_t> token_setting(const JsonView& model, std::string_view key, const Vocabulary& vocabulary) {
  const auto setting = model.find(key);
  if (!setting || setting->text().empty()) return std::nullopt;
  const auto id = vocabulary.find(setting->text());
  setting->require(id.has_value(), "'{}' is not in the vocabulary", setting->text());
  return id;
}

std::unique_ptr<TextModel> read_word_level(const JsonView& model) {
  Vocabulary vocabulary = read_vocabulary_of(model);
  const auto unknown = token_setting(model, "unk_token", vocabulary);
  return std::make_unique<WordLevel>(std::move(vocabulary), unknown);
}

std::unique_ptr<TextModel> read_word_piece(const JsonView& model) {
  constexpr int64_t kUsualLength = 100;
  Vocabulary vocabulary = read_vocabulary_of(model);
  const auto unknown = token_setting(model, "unk_token", vocabulary);
  model.require(unknown.has_value(), "'unk_token' is missing: WordPiece needs a token for unknown words");
  const auto longest = model.find("max_input_chars_per_word");
  return std::make_unique<WordPiece>(
      std::move(vocabulary),
      WordPiece::Settings{.unknown = *unknown,
                          .prefix = model.text("continuing_subword_prefix", "##"),
                          .longest_word = longest ? longest->integer(1, 1 << 20) : kUsualLength});
}

std::unique_ptr<TextModel> read_text_model(const JsonView& model) {
  using Builder = std::unique_ptr<TextModel> (*)(const JsonView&);
  static constexpr std::pair<std::string_view, Builder> kModels[] = {
      {"BPE", read_bpe}, {"WordPiece", read_word_piece}, {"Unigram", read_unigram}, {"WordLevel", read_word_level}};
  if (const auto type = model.find("type")) return named(*type, "type", kModels)(model);
  // Files from before the type was written.
  if (model.find("merges")) return read_bpe(model);
  if (model.at("vocab").is_array()) return read_unigram(model);
  return model.find("continuing_subword_prefix") ? read_word_piece(model) : read_word_level(model);
}

}  // namespace ordo
