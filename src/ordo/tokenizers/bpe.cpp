// SPDX-License-Identifier: Apache-2.0
// Byte-pair encoding (Sennrich et al. 2016): of all neighbours the pair whose merge was learned first is joined, the
// leftmost first, until no pair is left that was.
#include <algorithm>
#include <limits>
#include <utility>

#include "ordo/tokenizers/text_model.h"
#include "ordo/tokenizers/unicode.h"

namespace ordo {

namespace {

struct Merged {
  int32_t rank, id;
};

class Bpe final : public TextModel {
 public:
  struct Settings {
    std::optional<int64_t> unknown = {};
    std::string prefix = {}, suffix = {};  // of characters inside a word, of its last one
    bool joins_unknown = false;            // neighbouring unknown characters give one token
    bool byte_fallback = false;            // unknown characters give their bytes
    bool ignore_merges = false;            // a piece that is a token is taken as it is
  };
  using Merges = std::unordered_map<uint64_t, Merged>;

  Bpe(Vocabulary vocabulary, Settings settings, Merges merges)
      : TextModel(std::move(vocabulary)), settings_(std::move(settings)), merges_(std::move(merges)) {
    if (settings_.byte_fallback) bytes_ = ByteFallback(vocabulary_);
    for (char32_t code = 0; code < singles_.size(); ++code) {
      std::string text;
      append_utf8(text, code);
      singles_[code] = static_cast<int32_t>(vocabulary_.find(text).value_or(-1));
    }
  }

  void encode(std::string_view piece, std::vector<int64_t>& ids) const override {
    if (settings_.ignore_merges) {
      if (const auto whole = vocabulary_.find(piece)) return ids.push_back(*whole);
    }
    std::vector<Symbol> symbols;
    symbols.reserve(piece.size());
    split(piece, symbols);
    merge(symbols);
    for (const Symbol& symbol : symbols)
      if (symbol.id >= 0) ids.push_back(symbol.id);
  }

  static uint64_t pair(int64_t left, int64_t right) {
    return (static_cast<uint64_t>(left) << 32) | static_cast<uint64_t>(right);
  }

 private:
  struct Symbol {
    int32_t id, before, after;  // neighbours by index, -1: none; a symbol that was joined to its left one has id -1
  };
  struct Candidate {
    int32_t rank, at, id;
    // std::push_heap puts the largest first: the earliest merge, then the leftmost.
    bool operator<(const Candidate& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
  };

  void split(std::string_view piece, std::vector<Symbol>& symbols) const {
    ordo::require<DataError>(piece.size() < static_cast<size_t>(std::numeric_limits<int32_t>::max()),
                             "a piece of text has {} bytes, more than a byte-pair encoding takes at once",
                             piece.size());
    const auto put = [&](int64_t id) {
      const auto here = static_cast<int32_t>(symbols.size());
      symbols.push_back({static_cast<int32_t>(id), here - 1, here + 1});
    };
    bool waiting = false;  // an unknown character that may be joined with the next one
    const auto put_waiting = [&] {
      if (std::exchange(waiting, false)) put(*settings_.unknown);
    };
    size_t at = 0;
    each_character(piece, [&](char32_t code, std::string_view text) {
      const bool first = at == 0, last = (at += text.size()) == piece.size();
      if (const int64_t id = single(code, text, first, last); id >= 0) {
        put_waiting();
        return put(id);
      }
      if (bytes_.put_bytes(dressed(text, first, last), put)) return;
      if (!settings_.unknown) return;  // the character is lost
      if (!settings_.joins_unknown) put_waiting();
      waiting = true;
    });
    put_waiting();
    if (!symbols.empty()) symbols.back().after = -1;
  }

  int64_t single(char32_t code, std::string_view text, bool first, bool last) const {
    const bool plain = (first || settings_.prefix.empty()) && (!last || settings_.suffix.empty());
    if (plain) return code < singles_.size() ? singles_[code] : vocabulary_.find(text).value_or(-1);
    return vocabulary_.find(dressed(text, first, last)).value_or(-1);
  }
  std::string dressed(std::string_view text, bool first, bool last) const {
    return (first ? "" : settings_.prefix) + std::string(text) + (last ? settings_.suffix : "");
  }

  void merge(std::vector<Symbol>& symbols) const {
    std::vector<Candidate> heap;
    heap.reserve(symbols.size());
    const auto look = [&](int32_t left) {
      if (left < 0 || symbols[static_cast<size_t>(left)].after < 0) return;
      const Symbol& here = symbols[static_cast<size_t>(left)];
      const auto found = merges_.find(pair(here.id, symbols[static_cast<size_t>(here.after)].id));
      if (found == merges_.end()) return;
      heap.push_back({found->second.rank, left, found->second.id});
      std::push_heap(heap.begin(), heap.end());
    };
    for (size_t i = 0; i + 1 < symbols.size(); ++i) look(static_cast<int32_t>(i));
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end());
      const Candidate best = heap.back();
      heap.pop_back();
      Symbol& left = symbols[static_cast<size_t>(best.at)];
      if (left.id < 0 || left.after < 0) continue;
      Symbol& right = symbols[static_cast<size_t>(left.after)];
      const auto now = merges_.find(pair(left.id, right.id));  // either side may have changed since
      if (now == merges_.end() || now->second.id != best.id) continue;
      left.id = best.id;
      right.id = -1;
      left.after = right.after;
      if (left.after >= 0) symbols[static_cast<size_t>(left.after)].before = best.at;
      look(left.before);
      look(best.at);
    }
  }

  Settings settings_;
  Merges merges_;
  ByteFallback bytes_;
  std::array<int32_t, 0x400> singles_;  // tokens of one character, those of the byte alphabet among them
};

// "a b" or ["a", "b"].
std::optional<std::pair<std::string, std::string>> parts_of(const JsonView& merge) {
  if (merge.is_array()) {
    merge.require(merge.raw().size() == 2, "a merge has two parts, this one has {}", merge.raw().size());
    return std::pair(merge.item(0).text(), merge.item(1).text());
  }
  const std::string& text = merge.text();
  if (text.starts_with("#version")) return std::nullopt;  // the first line of a merges.txt
  const size_t space = text.find(' ');
  merge.require(space != std::string::npos && text.find(' ', space + 1) == std::string::npos,
                "a merge is two tokens with one space between, found '{}'", text);
  return std::pair(text.substr(0, space), text.substr(space + 1));
}

Bpe::Merges read_merges(const JsonView& list, const Vocabulary& vocabulary, const std::string& prefix) {
  Bpe::Merges merges;
  int32_t rank = 0;
  for (const JsonView& merge : list.items()) {
    const auto parts = parts_of(merge);
    if (!parts) continue;
    const auto& [left, right] = *parts;
    const auto id_of = [&](const std::string& token) {
      const auto id = vocabulary.find(token);
      merge.require(id.has_value(), "'{}' is not in the vocabulary", token);
      return *id;
    };
    merge.require(right.size() >= prefix.size(), "'{}' is shorter than continuing_subword_prefix", right);
    const auto made = static_cast<int32_t>(id_of(left + right.substr(prefix.size())));
    merges[Bpe::pair(id_of(left), id_of(right))] = {rank++, made};
  }
  return merges;
}

}  // namespace

std::unique_ptr<TextModel> read_bpe(const JsonView& model) {
  Vocabulary vocabulary = read_vocabulary_of(model);
  const Bpe::Settings settings{.unknown = token_setting(model, "unk_token", vocabulary),
                               .prefix = model.text("continuing_subword_prefix", ""),
                               .suffix = model.text("end_of_word_suffix", ""),
                               .joins_unknown = model.boolean("fuse_unk", false),
                               .byte_fallback = model.boolean("byte_fallback", false),
                               .ignore_merges = model.boolean("ignore_merges", false)};
  if (const auto dropout = model.find("dropout"))
    dropout->require(dropout->number() == 0.0, "merges that are left out at random are not supported; set it to null");
  auto merges = read_merges(model.at("merges"), vocabulary, settings.prefix);
  return std::make_unique<Bpe>(std::move(vocabulary), settings, std::move(merges));
}

}  // namespace ordo
