// SPDX-License-Identifier: Apache-2.0
// The unigram model (Kudo 2018) as tokenizer.json files have it: sums of scores in double precision.
#include <algorithm>

#include "ordo/tokenizers/text_model.h"
#include "ordo/tokenizers/unigram_paths.h"

namespace ordo {

namespace {

class Unigram final : public TextModel {
 public:
  Unigram(Vocabulary vocabulary, const std::vector<double>& scores, std::optional<int64_t> unknown, bool byte_fallback)
      : TextModel(std::move(vocabulary)), unknown_(unknown) {
    constexpr double kPenalty = 10.0;
    for (int64_t id = 0; id < vocabulary_.size(); ++id)
      paths_.add(*vocabulary_.token(id), id, scores[static_cast<size_t>(id)]);
    paths_.set_unknown(unknown.value_or(-1), *std::min_element(scores.begin(), scores.end()) - kPenalty);
    if (byte_fallback) bytes_ = ByteFallback(vocabulary_);
  }

  void encode(std::string_view piece, std::vector<int64_t>& ids) const override {
    const auto cuts = paths_.cut(piece);
    for (size_t i = 0; i < cuts.size();) {
      const size_t from = cuts[i].from;
      const bool unknown = cuts[i].id == unknown_.value_or(-1);
      size_t to = cuts[i++].to;
      while (unknown && i < cuts.size() && cuts[i].id == unknown_.value_or(-1)) to = cuts[i++].to;  // they are one
      add(piece.substr(from, to - from), ids);
    }
  }

 private:
  void add(std::string_view token, std::vector<int64_t>& ids) const {
    if (const auto id = vocabulary_.find(token)) return ids.push_back(*id);
    if (bytes_.put_bytes(token, [&](int64_t id) { ids.push_back(id); })) return;
    ordo::require<DataError>(unknown_.has_value(), "unknown text '{}': the tokenizer has no unk_id for it", token);
    ids.push_back(*unknown_);
  }

  UnigramPaths<double> paths_;
  std::optional<int64_t> unknown_;
  ByteFallback bytes_;
};

}  // namespace

std::unique_ptr<TextModel> read_unigram(const JsonView& model) {
  const JsonView list = model.at("vocab");
  Vocabulary vocabulary;
  std::vector<double> scores;
  for (const JsonView& entry : list.items()) {
    entry.require(entry.is_array() && entry.raw().size() == 2, "expected [token, score]");
    const auto id = static_cast<int64_t>(scores.size());
    entry.require(id < kMostTokens, "more than {} tokens", kMostTokens);
    entry.require(vocabulary.add(entry.item(0).text(), id), "the token '{}' is there twice", entry.item(0).text());
    scores.push_back(entry.item(1).number());
  }
  list.require(vocabulary.size() > 0, "the vocabulary is empty");
  std::optional<int64_t> unknown;
  if (const auto id = model.find("unk_id")) unknown = id->integer(0, vocabulary.size() - 1);
  return std::make_unique<Unigram>(std::move(vocabulary), scores, unknown, model.boolean("byte_fallback", false));
}

}  // namespace ordo
