// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/tagged_rows.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log_softmax.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "ordo/metrics/likelihood.h"
#include "ordo/metrics/tagging.h"
#include "ordo/tasks/class_judge.h"
#include "ordo/tasks/measured.h"

namespace ordo {

TaggedSentence untagged_sentence(TaggedText read, const TextRows& rows, const Tokenizer& tokenizer) {
  TaggedSentence made = at_place(read.where, tokenizer, [&] {
    TaggedSentence laid{.row = rows.row(read.words.front())};  // the marks of any text stand around its words
    auto& ids = laid.row.ids;
    for (size_t i = 0; i < read.words.size(); ++i) {
      const auto pieces = tokenizer.encode(i == 0 ? read.words[i] : " " + read.words[i]);
      require<DataError>(!pieces.empty(), "the word '{}' gives no token", read.words[i]);
      laid.starts.push_back(i == 0 ? laid.row.front : laid.row.front + laid.row.first);
      if (i == 0) continue;
      ids.insert(ids.begin() + laid.starts.back(), pieces.begin(), pieces.end());
      laid.row.first += std::ssize(pieces);
    }
    return laid;
  });
  made.row.types.assign(made.row.ids.size(), 0);
  made.read = std::move(read);
  return made;
}

TaggedSentence tagged_sentence(TaggedText read, const TextRows& rows, const Tokenizer& tokenizer,
                               const ClassNames& classes) {
  TaggedSentence made = untagged_sentence(std::move(read), rows, tokenizer);
  at_place(made.read.where, tokenizer, [&] {
    for (const auto& tag : made.read.tags) made.tags.push_back(classes.number(tag));
  });
  return made;
}

TaggedSentence cut(const TaggedSentence& sentence, int64_t length) {
  const TextRow& row = sentence.row;
  if (row.size() <= length) return sentence;
  const auto tokens = [&](size_t words) {
    return words == sentence.starts.size() ? row.first : sentence.starts[words] - row.front;
  };
  size_t words = sentence.starts.size();
  while (words > 1 && tokens(words) > length - row.marks()) --words;
  TaggedSentence kept = sentence;
  kept.row = cut(row, row.marks() + tokens(words));
  for (auto* list : {&kept.starts, &kept.tags}) list->resize(words);
  for (auto* list : {&kept.read.words, &kept.read.tags}) list->resize(words);
  return kept;
}

Batch TaggedSet::batch(std::span<const uint64_t> numbers) const {
  std::vector<TaggedSentence> sentences;
  std::vector<TextRow> rows;
  for (const uint64_t number : numbers) rows.push_back(sentences.emplace_back(sentence(number)).row);
  Batch made = side_by_side(rows, /*types=*/false);
  made.targets = at::full(made.ids.sizes(), kIgnore, at::kLong);
  int64_t* row = made.targets.data_ptr<int64_t>();
  for (const auto& one : sentences) {
    for (size_t i = 0; i < one.starts.size(); ++i) row[one.starts[i]] = one.tags[i];
    row += made.ids.size(1);
    made.weight += static_cast<double>(one.tags.size());
  }
  return made;
}

std::vector<std::string> TaggedSet::notes() const {
  size_t left_out = 0, all = 0;
  for (const auto& sentence : sentences_) {
    all += sentence.tags.size();
    left_out += sentence.tags.size() - cut(sentence, length_).tags.size();
  }
  if (left_out == 0) return {};
  return {fmt::format("{} of {} words stand behind the first {} tokens of their sentence and were not judged", left_out,
                      all, length_)};
}

TagJudge::TagJudge(const TaggedSet& set, const std::vector<std::string>& classes, std::optional<int64_t> background)
    : set_(set), classes_(classes), background_(background) {}

void TagJudge::add(const Tensor& logits) {
  const Tensor logs = at::log_softmax(logits, 2, at::kDouble).to(at::kCPU);
  const Tensor best = logs.argmax(2);
  const auto log = logs.accessor<double, 3>();
  const auto predicted = best.accessor<int64_t, 2>();
  for (int64_t b = 0; b < logs.size(0); ++b) {
    const TaggedSentence sentence = set_.sentence(judged_.size());
    Judged& one = judged_.emplace_back(Judged{.predicted = {}, .truth = sentence.tags});
    for (size_t i = 0; i < sentence.starts.size(); ++i) {
      one.predicted.push_back(predicted[b][sentence.starts[i]]);
      one.nats -= log[b][sentence.starts[i]][sentence.tags[i]];
    }
  }
}

std::vector<std::string> TagJudge::named(const std::vector<int64_t>& tags) const {
  std::vector<std::string> names;
  for (const int64_t tag : tags) names.push_back(classes_[static_cast<size_t>(tag)]);
  return names;
}

std::string TagJudge::line(uint64_t number) const {
  const Judged& one = judged_[number];
  return example_line(number, set_.name(number),
                      {{"words", set_.sentence(number).read.words},
                       {"truth", named(one.truth)},
                       {"predicted", named(one.predicted)},
                       {"right", one.predicted == one.truth},
                       {"loss", one.nats / static_cast<double>(one.truth.size())}});
}

void TagJudge::add_spans(const StreamOptions& options, Evaluation& made) const {
  std::set<std::string> types;
  for (const auto& name : classes_)
    if (name.starts_with("B-") || name.starts_with("I-")) types.insert(name.substr(2));
  SpanScores scores({types.begin(), types.end()});
  for (const auto& one : judged_) {
    const auto predicted = spans_of(named(one.predicted)), truth = spans_of(named(one.truth));
    scores.add(predicted, truth);
  }
  measure(scores, options, made);
}

Evaluation TagJudge::evaluation(const StreamOptions& options) const {
  Evaluation made;
  Likelihood loss;
  TagScores scores(classes_, background_);
  std::vector<int64_t> confusion(classes_.size() * classes_.size(), 0);
  for (const auto& one : judged_) {
    const auto words = std::ssize(one.truth);
    loss.add(one.nats, words);
    scores.add(one.predicted, one.truth);
    int64_t right = 0;
    for (size_t i = 0; i < one.truth.size(); ++i) {
      right += one.predicted[i] == one.truth[i] ? 1 : 0;
      ++confusion[static_cast<size_t>(one.truth[i]) * classes_.size() + static_cast<size_t>(one.predicted[i])];
    }
    made.outcomes.accuracy.push_back(static_cast<double>(right) / static_cast<double>(words));
    made.tokens += static_cast<double>(words);
  }
  measure(loss, options, made, [](std::string_view name) { return name == "loss"; });
  measure(scores, options, made);
  if (mark_spans(classes_, background_)) add_spans(options, made);
  if (!options.details) return made;
  for (uint64_t i = 0; i < judged_.size(); ++i) made.rows.push_back(line(i));
  for (const auto& note : set_.notes()) made.notes.push_back(note);
  made.notes.push_back(confusion_text(classes_, confusion));
  return made;
}

}  // namespace ordo
