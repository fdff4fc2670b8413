// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/tag_predictor.h"

#include <ATen/ops/softmax.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ordo/config/words.h"
#include "ordo/core/text.h"
#include "ordo/tasks/pair_files.h"
#include "ordo/tasks/tagged_rows.h"
#include "ordo/tasks/unknown_words.h"

namespace ordo {

TaggedSentence TagPredictor::sentence(const PredictorInput& input, int64_t length) const {
  auto words = blank_apart(input.text);
  require<DataError>(!words.empty(), "{}: there is no word", input.where);
  TaggedSentence made = untagged_sentence({.words = std::move(words), .tags = {}, .where = input.where},
                                          TextRows(tokenizer_, /*pairs=*/false), tokenizer_);
  require<DataError>(too_long_ == TooLong::cut || made.row.size() <= length,
                     "{}: the sentence has {} tokens, and the model was trained on {} at most: shorten it, or give "
                     "task.too_long=cut",
                     input.where, made.row.size(), length);
  warn_of_unknown(tokenizer_, made.row.ids, input.where);
  return cut(made, length);
}

std::vector<Json> TagPredictor::predict(Model& model, std::span<const PredictorInput> inputs, int64_t length) const {
  ORDO_ASSERT(!model.is_training());
  const c10::NoGradGuard no_gradients;
  std::vector<TaggedSentence> sentences;
  std::vector<TextRow> rows;
  for (const auto& input : inputs) rows.push_back(sentences.emplace_back(sentence(input, length)).row);
  const Batch there = to_device(side_by_side(rows, /*types=*/false), model.head().weight().device());
  const Tensor found = model.head().logits(model.forward(input_of(there))).to(at::kCPU, at::kDouble).softmax(2);
  const Tensor best = found.argmax(2);
  const auto share = found.accessor<double, 3>();
  const auto tag = best.accessor<int64_t, 2>();
  std::vector<Json> all;
  for (size_t b = 0; b < sentences.size(); ++b) {
    Json one{{"words", sentences[b].read.words}, {"tags", Json::array()}, {"probabilities", Json::array()}};
    for (const int64_t start : sentences[b].starts) {
      const int64_t k = tag[static_cast<int64_t>(b)][start];
      one["tags"].push_back(tags_[static_cast<size_t>(k)]);
      one["probabilities"].push_back(share[static_cast<int64_t>(b)][start][k]);
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::string TagPredictor::line(const Json& told, const PredictorInput& input) const {
  (void)input;
  std::vector<std::string> parts;
  for (size_t i = 0; i < told["words"].size(); ++i)
    parts.push_back(
        fmt::format("{}/{}", told["words"][i].get<std::string>(), shown(told["tags"][i].get<std::string>())));
  return join(parts, " ");
}

}  // namespace ordo
