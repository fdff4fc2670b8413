// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/char_tokenizer.h"

#include <map>
#include <nlohmann/json.hpp>

#include "ordo/core/hash.h"
#include "ordo/core/utf8.h"

namespace ordo {

namespace {

// The distinct characters of a text, by code point.
std::map<char32_t, std::string> characters_of(std::string_view text) {
  std::map<char32_t, std::string> found;
  std::vector<bool> seen(0x110000);  // a map look-up for every character of a corpus would take most of the time
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    require<DataError>(point.bytes > 0, "the training text of the char tokenizer is not valid UTF-8 at byte {}", i);
    if (!seen[point.value]) {
      seen[point.value] = true;
      found.emplace(point.value, std::string(text.substr(i, point.bytes)));
    }
    i += point.bytes;
  }
  return found;
}

std::string saved_characters(const fs::path& folder) {
  const Json content = read_vocabulary(folder, CharTokenizer::kKind);
  const auto found = content.find("characters");
  require<DataError>(found != content.end() && found->is_string() && !found->get_ref<const std::string&>().empty(),
                     "{}: \"characters\" must be a string of all characters, sorted by code point",
                     (folder / "vocabulary.json").string());
  return found->get<std::string>();
}

}  // namespace

CharTokenizer::CharTokenizer(const Config&, const TokenizerFacts& facts) {
  std::string text;
  if (!facts.saved.empty()) {
    text = saved_characters(facts.saved);
  } else {
    require<ConfigError>(static_cast<bool>(facts.text),
                         "the char tokenizer learns its alphabet from training text, and there is none; token files "
                         "need `task.vocab_size` "
                         "and no tokenizer, or the one that they were written with");
    text = facts.text();
  }
  for (const auto& [code, bytes] : characters_of(text)) {
    ids_.emplace(code, static_cast<int64_t>(pieces_.size()));
    pieces_.push_back(bytes);
  }
  require<DataError>(!pieces_.empty(), "the training text is empty: the char tokenizer has no alphabet");
  require<DataError>(facts.saved.empty() || alphabet() == text,
                     "{}: \"characters\" must be sorted by code point, each once",
                     (facts.saved / "vocabulary.json").string());
}

std::vector<int64_t> CharTokenizer::encode(std::string_view text) const {
  std::vector<int64_t> ids;
  ids.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    const auto found = point.bytes > 0 ? ids_.find(point.value) : ids_.end();
    if (found == ids_.end()) throw UnknownCharacter(text, i, vocab_size());
    ids.push_back(found->second);
    i += point.bytes;
  }
  return ids;
}

std::string CharTokenizer::decode(std::span<const int64_t> ids) const {
  std::string text;
  text.reserve(ids.size());
  for (const int64_t id : ids) text += piece(id);
  return text;
}

std::string CharTokenizer::piece(int64_t id) const {
  require<DataError>(id >= 0 && id < vocab_size(),
                     "token id {} is not in the vocabulary of the char tokenizer (0 … {})", id, vocab_size() - 1);
  return pieces_[static_cast<size_t>(id)];
}

std::string CharTokenizer::alphabet() const {
  std::string all;
  for (const auto& piece : pieces_) all += piece;
  return all;
}

void CharTokenizer::save(const fs::path& folder) const {
  Json content = Json::object();
  content["characters"] = alphabet();
  write_vocabulary(folder, kKind, std::move(content));
}

uint64_t CharTokenizer::fingerprint() const { return key_of(key_of(0, kKind), alphabet()); }

void fields(Fields&, CharTokenizer::Config&) {}

}  // namespace ordo
