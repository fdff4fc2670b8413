// SPDX-License-Identifier: Apache-2.0
#include "ordo/tokenizers/sentencepiece_model.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <limits>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/tokenizers/unicode.h"
#include "ordo/tokenizers/vocabulary.h"

namespace ordo {

struct SentencepieceModel::Library {
  sentencepiece::SentencePieceProcessor processor;
};

namespace {

constexpr std::string_view kSpaceMark = "\u2581";

// "Internal: src/x.cc(12) [condition] text" of the library: what follows the condition is for people.
std::string words_of(const sentencepiece::util::Status& status) {
  std::string text = status.ToString();
  const size_t end = text.rfind("] ");
  return end == std::string::npos || end + 2 >= text.size() ? text : text.substr(end + 2);
}

}  // namespace

SentencepieceModel::SentencepieceModel(std::string_view bytes, const std::string& name)
    : file_(read_sentencepiece_file(bytes, name)) {
  auto library = std::make_unique<Library>();
  const auto status = library->processor.LoadFromSerializedProto({bytes.data(), bytes.size()});
  require<DataError>(status.ok(), "{}: SentencePiece does not take this model: {}", name, words_of(status));
  require<DataError>(library->processor.GetPieceSize() == vocab_size(), "{} is damaged: it has {} pieces, {} are read",
                     name, vocab_size(), library->processor.GetPieceSize());
  library_ = std::move(library);
  if (file_.is_unigram) read_paths();
  parts_texts_ = can_part_texts();
  parts_at_breaks_ = normalised("a\nb") == "\u2581a\u2581b";
}

std::string SentencepieceModel::normalised(std::string_view text) const {
  std::vector<int64_t> ids;
  std::string normal;
  encode_part(text, ids, normal);
  return normal;
}

// The library marks a space before a text's first word and before all others alike, and no piece reaches over such a
// mark.
bool SentencepieceModel::can_part_texts() const {
  if (normalised("a b") != "\u2581a\u2581b") return false;
  return find(kSpaceMark) && std::none_of(file_.pieces.begin(), file_.pieces.end(), [](const auto& piece) {
           std::string_view word = piece.text;
           while (word.starts_with(kSpaceMark)) word.remove_prefix(kSpaceMark.size());
           return piece.text.find_first_of(" \n") != std::string::npos ||
                  word.find(kSpaceMark) != std::string_view::npos;
         });
}

// Where a part of a long text may end, so that the next one begins behind the space there: between two letters, digits
// or signs. The library keeps hundreds of bytes for each piece of a text that it encodes at once.
size_t SentencepieceModel::part_end(std::string_view text, size_t from) const {
  constexpr size_t kPart = size_t{1} << 18;
  if (!parts_texts_ || text.size() - from <= kPart) return text.size();
  const auto plain = [](char32_t code) { return is_letter(code) || is_number(code) || is_punctuation(code); };
  for (size_t at = text.find_first_of(" \n", from + kPart); at != std::string_view::npos;
       at = text.find_first_of(" \n", at + 1)) {
    const size_t before = character_start(text, at - 1);
    const bool space = text[at] == ' ' || parts_at_breaks_;
    if (space && at + 1 < text.size() && plain(code_point_at(text, before).value) &&
        plain(code_point_at(text, at + 1).value))
      return at;
  }
  return text.size();
}

void SentencepieceModel::read_paths() {
  constexpr float kPenalty = 10.0F, kBonus = 0.1F;
  float least = std::numeric_limits<float>::max();
  for (int64_t id = 0; id < vocab_size(); ++id) {
    const SentencepiecePiece& piece = at(id);
    if (piece.type == PieceType::normal) least = std::min(least, piece.score);
    if (piece.type == PieceType::normal) paths_.add(piece.text, id, piece.score);
    // Better than all that could stand in its place, the more the longer it is.
    if (piece.type == PieceType::user_defined)
      paths_.add(piece.text, id, kBonus * static_cast<float>(piece.text.size() - 1));
  }
  paths_.set_unknown(library_->processor.unk_id(), least - kPenalty);
  if (!file_.byte_fallback) return;
  for (unsigned byte = 0; byte < 256; ++byte)
    byte_ids_.push_back(library_->processor.PieceToId(byte_token(static_cast<unsigned char>(byte))));
}

// Of a normalised text, under a unigram model.
std::vector<int64_t> SentencepieceModel::cut(std::string_view normal) const {
  const int64_t unknown = library_->processor.unk_id();
  std::vector<int64_t> ids;
  bool joins = false;  // neighbouring unknown characters are one
  for (const auto& cut : paths_.cut(normal)) {
    const bool is_unknown = cut.id == unknown;
    if (is_unknown && !byte_ids_.empty()) {
      for (const char c : normal.substr(cut.from, cut.to - cut.from))
        ids.push_back(byte_ids_[static_cast<unsigned char>(c)]);
    } else if (!is_unknown || !joins) {
      ids.push_back(cut.id);
    }
    joins = is_unknown;
  }
  return ids;
}

SentencepieceModel::~SentencepieceModel() = default;

std::vector<int64_t> SentencepieceModel::encode(std::string_view text) const {
  size_t bad = 0;
  require<DataError>(valid_utf8(text, &bad), "the text is not valid UTF-8 at byte {}", bad);
  std::vector<int64_t> ids;
  std::string normal;
  for (size_t from = 0; from < text.size();) {
    const size_t end = part_end(text, from);
    encode_part(text.substr(from, end - from), ids, normal);
    from = end + 1;
  }
  return file_.is_unigram ? cut(normal) : ids;
}

Encoded SentencepieceModel::encode_special(std::string_view text, std::optional<std::string_view> pair) const {
  Encoded all;
  const auto add = [&](const std::vector<int64_t>& ids, int64_t type) {
    all.ids.insert(all.ids.end(), ids.begin(), ids.end());
    all.types.resize(all.ids.size(), type);
  };
  const auto add_special = [&](std::optional<int64_t> id, int64_t type) {
    if (id) add({*id}, type);
  };
  add_special(begin(), 0);
  add(encode(text), 0);
  add_special(end(), 0);
  if (!pair) return all;
  add(encode(*pair), 1);
  add_special(end(), 1);
  return all;
}

void SentencepieceModel::encode_part(std::string_view text, std::vector<int64_t>& ids, std::string& normal) const {
  sentencepiece::ImmutableSentencePieceText result;
  const auto status = library_->processor.Encode({text.data(), text.size()}, result.mutable_proto());
  require<DataError>(status.ok(), "SentencePiece cannot encode a text of {} bytes: {}", text.size(), words_of(status));
  for (const auto& one : result.pieces()) {
    ids.push_back(one.id());
    normal += at(one.id()).type == PieceType::byte ? piece(one.id()) : one.piece();
  }
}

std::string SentencepieceModel::decode(std::span<const int64_t> ids) const {
  std::vector<int> narrow;
  for (const int64_t id : ids) {
    at(id);
    narrow.push_back(static_cast<int>(id));
  }
  std::string text;
  const auto status = library_->processor.Decode(narrow, &text);
  require<DataError>(status.ok(), "SentencePiece cannot decode {} ids: {}", ids.size(), words_of(status));
  return text;
}

const SentencepiecePiece& SentencepieceModel::at(int64_t id) const {
  require<DataError>(id >= 0 && id < vocab_size(), "token id {} is not in the vocabulary (0 … {})", id,
                     vocab_size() - 1);
  return file_.pieces[static_cast<size_t>(id)];
}

std::string SentencepieceModel::piece(int64_t id) const {
  const SentencepiecePiece& here = at(id);
  switch (here.type) {
    case PieceType::control:
      return "";
    case PieceType::unknown:
      return " \u2047 ";  // as the library decodes it
    case PieceType::byte:
      return std::string(1, *byte_of(here.text));  // the library takes no other text for one
    default:
      return with_replaced(here.text, kSpaceMark, " ");
  }
}

bool SentencepieceModel::is_special(int64_t id) const {
  const PieceType type = at(id).type;
  return type == PieceType::control || type == PieceType::unknown;
}

std::optional<int64_t> SentencepieceModel::find(std::string_view piece) const {
  const auto& all = file_.pieces;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.text == piece; });
  return found == all.end() ? std::nullopt : std::optional<int64_t>(found - all.begin());
}

std::optional<int64_t> SentencepieceModel::begin() const {
  const int id = library_->processor.bos_id();
  return id < 0 ? std::nullopt : std::optional<int64_t>(id);
}
std::optional<int64_t> SentencepieceModel::end() const {
  const int id = library_->processor.eos_id();
  return id < 0 ? std::nullopt : std::optional<int64_t>(id);
}

namespace {

class Lines final : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(const LineSource& source) : source_(source) { Lines::Next(); }
  bool done() const override { return line_ == nullptr; }
  void Next() override { line_ = source_(); }
  const std::string& value() const override { return *line_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const LineSource& source_;
  const std::string* line_ = nullptr;
};

}  // namespace

std::string train_sentencepiece(const SentencepieceTraining& settings, const LineSource& lines) {
  constexpr int64_t kFixedPieces = 4, kBytes = 256;
  require_vocab_size(settings.vocab_size, kFixedPieces + static_cast<int64_t>(settings.symbols.size()) +
                                              (settings.byte_fallback ? kBytes : 0) + 1);
  for (const auto& symbol : settings.symbols)
    require<ConfigError>(!symbol.empty() && symbol.find_first_of(",\"\n\r") == std::string::npos,
                         "the symbol '{}' is empty or has a comma, a quote or a line break, which cannot be given",
                         symbol);
  const auto flag = [](bool on) { return on ? "true" : "false"; };
  Lines iterator(lines);
  require<DataError>(!iterator.done(), "the training text has no line");
  std::string model;
  // A fixed number of threads: sums are made per thread, and the model would depend on it.
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      {{"model_type", settings.algorithm},
       {"vocab_size", std::to_string(settings.vocab_size)},
       {"character_coverage", number_text(settings.coverage)},
       {"byte_fallback", flag(settings.byte_fallback)},
       {"split_digits", flag(settings.split_digits)},
       {"normalization_rule_name", settings.normalization},
       {"user_defined_symbols", join(settings.symbols, ",")},
       {"unk_id", "0"},
       {"bos_id", "1"},
       {"eos_id", "2"},
       {"pad_id", "3"},
       {"num_threads", "2"},
       {"max_sentence_length", std::to_string(1 << 30)},  // longer lines than that would be left out
       {"minloglevel", "2"}},
      &iterator, &model);
  require<ConfigError>(status.ok(), "SentencePiece cannot train this vocabulary: {}", words_of(status));
  return model;
}

}  // namespace ordo
