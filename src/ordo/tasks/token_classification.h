// SPDX-License-Identifier: Apache-2.0
// A tag for each word of a sentence: parts of speech, or spans that name somebody (B-PER, I-PER, O).
#pragma once
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ordo/data/bad_lines.h"
#include "ordo/data/examples.h"
#include "ordo/tasks/class_names.h"
#include "ordo/tasks/tagged_texts.h"
#include "ordo/tasks/task.h"
#include "ordo/tasks/text_rows.h"

namespace ordo {

// A word is encoded as it stands in a text, with a blank before it unless it is the first; its tag is asked at the
// first of its tokens. train.length and evaluate.lengths count the tokens of a row, the tokenizer's marks included.
class TokenClassification final : public Task {
 public:
  struct Config {
    Choice<Tokenizer> tokenizer;
    TaggedTextsConfig data;
    std::optional<Choice<SplitRule>> split = {};
    std::vector<std::string> classes = {};
    fs::path classes_file = {};
    std::string background = "O";
    TooLong too_long = TooLong::stop;
  };
  static constexpr std::string_view kKind = "token_classification", kSummary = "a tag for each word of a sentence";
  TokenClassification(const Config& config, const TaskFacts& facts);
  ModelFacts complete(ModelFacts facts) const override;
  std::optional<std::string> refuses(const Model& model) const override;
  std::unique_ptr<BatchStream> open(const StreamOptions& options) const override;
  bool has(Split split) const override { return config_.data.has(split) || (rule_ && rule_->gives(split)); }
  std::optional<std::string> refuses_length(Split split, int64_t length) const override;
  bool draws_examples() const override { return config_.data.generate.has_value() || (rule_ && rule_->drawn()); }
  Loss loss(Model& model, const Batch& batch, const LossOptions& options) const override;
  // loss (nats a word), accuracy, scores over the tags but the background; where tags mark spans also those of whole
  // spans, see SpanScores.
  Evaluation evaluate(Model& model, const StreamOptions& options) const override;
  const Tokenizer* tokenizer() const override { return data().tokenizer.get(); }
  std::shared_ptr<const Predictor> predictor() const override;
  uint64_t fingerprint() const override;
  std::vector<std::string> summary() const override;
  std::vector<std::string> left_out(int64_t) const override { return data().told; }
  const std::vector<std::string>& classes() const { return data().classes->all(); }

  struct Sentence {
    TextRow row;
    std::vector<int64_t> starts, tags;  // of each word: the place of its first token in the row, its class
    TaggedText read;
  };
  struct Data {
    std::optional<ClassNames> classes;
    std::shared_ptr<const Tokenizer> tokenizer;
    std::array<std::vector<Sentence>, 3> splits;  // by Split
    std::vector<std::string> told;                // what was left out
  };

 private:
  const Data& data() const;  // read when first needed
  const std::vector<Sentence>& all(Split split) const { return data().splits[static_cast<size_t>(split)]; }
  ClassNames named_classes(const TaggedTexts& read) const;
  MixedExamples mixed() const;  // of the training sentences
  Config config_;
  TaskFacts facts_;
  std::shared_ptr<const SplitRule> rule_;  // null: there is none
  mutable std::once_flag once_;
  mutable std::shared_ptr<const Data> data_;
};
void fields(Fields& f, TokenClassification::Config& c);

}  // namespace ordo
