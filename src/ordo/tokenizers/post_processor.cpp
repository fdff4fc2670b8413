// SPDX-License-Identifier: Apache-2.0
#include "ordo/tokenizers/post_processor.h"

#include <algorithm>
#include <map>

namespace ordo {

namespace {

constexpr int64_t kMostTypes = 1 << 16;

using SpecialIds = std::map<std::string, std::vector<int64_t>, std::less<>>;
SpecialIds read_special_ids(const JsonView& part, int64_t size) {
  SpecialIds found;
  const auto list = part.find("special_tokens");
  if (!list) return found;
  for (const auto& [name, token] : list->members())
    for (const JsonView& id : token.at("ids").items()) found[name].push_back(id.integer(0, size - 1));
  return found;
}

}  // namespace

PostProcessor::PostProcessor()
    : single_{{Piece::What::text, {}, 0}}, pair_{{Piece::What::text, {}, 0}, {Piece::What::pair, {}, 1}} {}

PostProcessor::PostProcessor(const JsonView& part, int64_t size) : PostProcessor() { read(part, size); }

void PostProcessor::read(const JsonView& part, int64_t size) {
  const std::string& type = part.at("type").text();
  if (type == "ByteLevel") return;
  if (type == "TemplateProcessing") return read_template(part, size);
  if (type == "BertProcessing" || type == "RobertaProcessing") return read_bert(part, size, type[0] == 'R');
  part.at("type").require(type == "Sequence",
                          "unknown type '{}'; there are TemplateProcessing, BertProcessing, RobertaProcessing, "
                          "ByteLevel, Sequence",
                          type);
  int64_t adding = 0;
  for (const JsonView& step : part.at("processors").items()) {
    if (step.at("type").text() != "ByteLevel") ++adding;
    step.require(adding <= 1, "a second processor that adds tokens, after one that did, is not supported");
    read(step, size);
  }
}

void PostProcessor::read_template(const JsonView& part, int64_t size) {
  const SpecialIds special = read_special_ids(part, size);
  const auto read_piece = [&](const JsonView& piece, bool pairs) -> Piece {
    if (const auto sequence = piece.find("Sequence")) {
      const JsonView which = sequence->at("id");
      which.require(which.text() == "A" || (pairs && which.text() == "B"), "expected A{}, found '{}'",
                    pairs ? " or B" : "", which.text());
      return {which.text() == "A" ? Piece::What::text : Piece::What::pair,
              {},
              sequence->at("type_id").integer(0, kMostTypes)};
    }
    const JsonView token = piece.at("SpecialToken");
    const auto ids = special.find(token.at("id").text());
    token.require(ids != special.end(), "'{}' is not among special_tokens", token.at("id").text());
    return {Piece::What::ids, ids->second, token.at("type_id").integer(0, kMostTypes)};
  };
  const auto read_pieces = [&](const JsonView& list, bool pairs) {
    Template made;
    for (const JsonView& piece : list.items()) made.push_back(read_piece(piece, pairs));
    const auto holds = [&](Piece::What what) {
      return std::any_of(made.begin(), made.end(), [&](const Piece& piece) { return piece.what == what; });
    };
    list.require(holds(Piece::What::text) && (!pairs || holds(Piece::What::pair)), "the template leaves a text out");
    return made;
  };
  single_ = read_pieces(part.at("single"), false);
  if (const auto pair = part.find("pair")) pair_ = read_pieces(*pair, true);
}

// [CLS] a [SEP] b [SEP]; of RoBERTa's form <s> a </s></s> b </s>, all of one type.
void PostProcessor::read_bert(const JsonView& part, int64_t size, bool roberta) {
  const auto id_of = [&](const char* key) -> std::vector<int64_t> {
    const JsonView token = part.at(key);
    token.require(token.is_array() && token.raw().size() == 2, "expected [token, id]");
    return {token.item(1).integer(0, size - 1)};
  };
  const auto begin = id_of("cls"), end = id_of("sep");
  const int64_t second = roberta ? 0 : 1;
  single_ = {{Piece::What::ids, begin, 0}, {Piece::What::text, {}, 0}, {Piece::What::ids, end, 0}};
  pair_ = single_;
  if (roberta) pair_.push_back({Piece::What::ids, end, 0});
  pair_.push_back({Piece::What::pair, {}, second});
  pair_.push_back({Piece::What::ids, end, second});
}

Encoded PostProcessor::process(const std::vector<int64_t>& text, const std::vector<int64_t>* pair) const {
  Encoded all;
  for (const Piece& piece : pair != nullptr ? pair_ : single_) {
    const auto& ids = piece.what == Piece::What::text ? text : piece.what == Piece::What::pair ? *pair : piece.ids;
    all.ids.insert(all.ids.end(), ids.begin(), ids.end());
    all.types.resize(all.ids.size(), piece.type);
  }
  return all;
}

}  // namespace ordo
