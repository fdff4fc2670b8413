// SPDX-License-Identifier: Apache-2.0
#include "ordo/tokenizers/hf_pipeline.h"

#include <algorithm>

#include "ordo/core/log.h"
#include "ordo/core/text.h"
#include "ordo/core/utf8.h"

namespace ordo {

namespace {

void require_utf8(std::string_view text) {
  size_t bad = 0;
  require<DataError>(valid_utf8(text, &bad), "the text is not valid UTF-8 at byte {}", bad);
}

// What is set for batches: Ordo cuts and fills its rows itself.
void tell_unapplied(const JsonView& file, const std::string& name) {
  for (const char* key : {"truncation", "padding"})
    if (file.find(key))
      log::warn("{}: its `{}` is not applied: texts are encoded whole, and nothing is added to them; null says so",
                name, key);
}

}  // namespace

HfPipeline::HfPipeline(std::string_view json, const std::string& name) {
  const Json root = parse_json_file(json, name);
  const JsonView file(root, name);
  if (const auto version = file.find("version"))
    version->require(version->text() == "1.0", "expected \"1.0\", found \"{}\"", version->text());
  tell_unapplied(file, name);
  model_ = read_text_model(file.at("model"));
  if (const auto part = file.find("normalizer")) normalizer_ = read_normalizer(*part);
  if (const auto part = file.find("pre_tokenizer")) pre_tokenizer_ = read_pre_tokenizer(*part);
  if (const auto part = file.find("decoder")) decoder_ = read_decoder(*part);
  if (const auto part = file.find("added_tokens")) added_ = AddedTokens(*part, model_->vocabulary(), normalizer_);
  if (const auto part = file.find("post_processor")) post_processor_ = PostProcessor(*part, vocab_size());
}

int64_t HfPipeline::vocab_size() const { return std::max(model_->vocabulary().size(), added_.size()); }

// Is nothing left of the first character of a text? What comes next then does not begin the text any more, to a
// pre-tokeniser that asks.
bool HfPipeline::drops_start(std::string_view text) const {
  return normalizer_ && normalizer_(std::string(text.substr(0, code_point_at(text, 0).bytes))).empty();
}

void HfPipeline::encode_part(std::string_view text, bool first, std::vector<int64_t>& ids) const {
  first = first && !drops_start(text);
  const std::string normal = normalizer_ ? normalizer_(std::string(text)) : std::string(text);
  for (const auto& part : added_.split(normal, /*normalized=*/true)) {
    if (part.token) {
      ids.push_back(*part.token);
      continue;
    }
    const std::string_view piece = std::string_view(normal).substr(part.span.from, part.span.to - part.span.from);
    if (!pre_tokenizer_) {
      model_->encode(piece, ids);
      continue;
    }
    pre_tokenizer_(piece, first && part.span.from == 0,
                   [&](std::string_view word, bool) { model_->encode(word, ids); });
  }
}

std::vector<int64_t> HfPipeline::encode(std::string_view text) const {
  require_utf8(text);
  std::vector<int64_t> ids;
  for (const auto& part : added_.split(text, /*normalized=*/false)) {
    if (part.token)
      ids.push_back(*part.token);
    else
      encode_part(text.substr(part.span.from, part.span.to - part.span.from), part.span.from == 0, ids);
  }
  return ids;
}

Encoded HfPipeline::encode_special(std::string_view text, std::optional<std::string_view> pair) const {
  const auto ids = encode(text);
  if (!pair) return post_processor_.process(ids, nullptr);
  const auto second = encode(*pair);
  return post_processor_.process(ids, &second);
}

const std::string& HfPipeline::token(int64_t id) const {
  static const std::string kFree;
  require<DataError>(id >= 0 && id < vocab_size(), "token id {} is not in the vocabulary (0 … {})", id,
                     vocab_size() - 1);
  if (const std::string* found = added_.token(id)) return *found;
  const std::string* const found = model_->vocabulary().token(id);
  return found != nullptr ? *found : kFree;
}

std::string HfPipeline::decode(std::span<const int64_t> ids) const {
  Decoding decoding;
  for (const int64_t id : ids)
    if (const std::string& one = token(id); !one.empty()) decoding.tokens.push_back(one);
  if (!decoder_) return join(decoding.tokens, " ");
  decoder_(decoding);
  return join(decoding.tokens, "");
}

std::string HfPipeline::piece(int64_t id) const {
  const std::string& one = token(id);
  if (!decoder_) return " " + one;
  // Some decoders treat the first and the last token in another way: there is one on either side.
  Decoding decoding{.tokens = {"a", one, "b"}, .apart = true};
  decoder_(decoding);
  return decoding.tokens[1];
}

std::optional<int64_t> HfPipeline::find(std::string_view token) const {
  const auto added = added_.find(token);
  return added ? added : model_->vocabulary().find(token);
}

}  // namespace ordo
