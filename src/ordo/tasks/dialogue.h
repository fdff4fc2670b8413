// SPDX-License-Identifier: Apache-2.0
// Answer in a dialogue of several turns: a decoder reads what was said and writes what one of the sides says next.
// Rows, marks and windows are those of DialogueLayout; train.length and evaluate.lengths count the tokens of a window.
// A training epoch has every answer once, in rows of like lengths; an evaluation judges every answer once, and its
// examples, of which intervals and rows are, are whole dialogues.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ordo/data/examples.h"
#include "ordo/tasks/dialogue_data.h"
#include "ordo/tasks/dialogue_layout.h"
#include "ordo/tasks/task.h"

namespace ordo {

class DialogueExamples;  // dialogue_examples.h

struct EncodedDialogue {
  std::vector<Turn> turns;
  std::string where;
  size_t entry = 0;  // of the list of files
};

class Dialogue final : public Task {
 public:
  struct Config {
    Choice<Tokenizer> tokenizer;
    DialogueData data;
    std::optional<Choice<SplitRule>> split = {};
    DialogueRules rules;
  };
  static constexpr std::string_view kKind = "dialogue", kSummary = "answer in a dialogue of several turns";
  Dialogue(const Config& config, const TaskFacts& facts);
  ModelFacts complete(ModelFacts facts) const override;
  std::optional<std::string> refuses(const Model& model) const override;
  std::unique_ptr<BatchStream> open(const StreamOptions& options) const override;
  bool has(Split split) const override;
  std::optional<std::string> refuses_length(Split split, int64_t length) const override;
  bool draws_examples() const override { return config_.data.generate || (rule_ != nullptr && rule_->drawn()); }
  Loss loss(Model& model, const Batch& batch, const LossOptions& options) const override;
  // loss (nats a token), perplexity and accuracy of the answers' tokens, their end marks among them;
  // bits_per_character of the answers' text. What stands for characters or words that the tokenizer has not is never
  // right, and counted in a note.
  Evaluation evaluate(Model& model, const StreamOptions& options) const override;
  const Tokenizer* tokenizer() const override;
  std::shared_ptr<const TextWriter> writer() const override;
  uint64_t fingerprint() const override;
  std::vector<std::string> summary() const override;
  std::vector<std::string> left_out(int64_t length) const override;

  DialogueLayout layout() const { return {*tokenizer(), config_.rules}; }
  const std::vector<EncodedDialogue>& dialogues(Split split) const { return data()[static_cast<size_t>(split)]; }

 private:
  using Data = std::array<std::vector<EncodedDialogue>, 3>;  // by Split
  const DialogueTexts& texts() const;                        // read when first needed
  const Data& data() const;                                  // encoded when first needed
  std::string training_text() const;
  std::shared_ptr<const DialogueExamples> examples(Split split, int64_t length) const;
  // Of `count` training examples, where files have weights; else no parts.
  MixedExamples mixed(int64_t count, const std::function<size_t(uint64_t number)>& dialogue_of) const;
  std::vector<MixedPart> parts() const;  // in dialogues
  Config config_;
  TaskFacts facts_;
  std::shared_ptr<const SplitRule> rule_;  // null: train is training whole
  mutable std::once_flag texts_once_, tokenizer_once_, data_once_;
  mutable DialogueTexts texts_;
  mutable std::shared_ptr<const Tokenizer> tokenizer_;
  mutable Data data_;
};
void fields(Fields& f, Dialogue::Config& c);

}  // namespace ordo
