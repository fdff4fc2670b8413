// SPDX-License-Identifier: Apache-2.0
// Tagged sentences as rows of ids, and what became of them in an evaluation.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ordo/data/examples.h"
#include "ordo/tasks/token_classification.h"

namespace ordo {

using TaggedSentence = TokenClassification::Sentence;

// Throws DataError with the sentence's place for a word without a token, and what the tokenizer throws.
TaggedSentence untagged_sentence(TaggedText read, const TextRows& rows, const Tokenizer& tokenizer);
// Likewise, and for an unknown tag.
TaggedSentence tagged_sentence(TaggedText read, const TextRows& rows, const Tokenizer& tokenizer,
                               const ClassNames& classes);
// Of at most `length` ids: the last words go, each with all of its tokens.
TaggedSentence cut(const TaggedSentence& sentence, int64_t length);

// A split of the task at one length, as batches with targets int64 [B, L].
class TaggedSet final : public ExampleSet {
 public:
  TaggedSet(std::shared_ptr<const TokenClassification::Data> data, Split split, int64_t length)
      : data_(std::move(data)), sentences_(data_->splits[static_cast<size_t>(split)]), length_(length) {}
  int64_t count() const override { return std::ssize(sentences_); }
  int64_t length(uint64_t number) const override { return std::min(sentences_[number].row.size(), length_); }
  std::string name(uint64_t number) const override { return sentences_[number].read.where; }
  Batch batch(std::span<const uint64_t> numbers) const override;
  TaggedSentence sentence(uint64_t number) const { return cut(sentences_[number], length_); }
  std::vector<std::string> notes() const;  // how many words were cut off

 private:
  std::shared_ptr<const TokenClassification::Data> data_;
  const std::vector<TaggedSentence>& sentences_;
  int64_t length_;
};

// Judges the sentences of a set in their order.
class TagJudge {
 public:
  TagJudge(const TaggedSet& set, const std::vector<std::string>& classes, std::optional<int64_t> background);
  // logits [B, L, K] of the next B sentences.
  void add(const Tensor& logits);
  Evaluation evaluation(const StreamOptions& options) const;  // all but the protocol

 private:
  struct Judged {
    std::vector<int64_t> predicted, truth;
    double nats = 0.0;
  };
  std::vector<std::string> named(const std::vector<int64_t>& tags) const;
  std::string line(uint64_t number) const;
  void add_spans(const StreamOptions& options, Evaluation& made) const;
  const TaggedSet& set_;
  const std::vector<std::string>& classes_;
  std::optional<int64_t> background_;
  std::vector<Judged> judged_;
};

}  // namespace ordo
