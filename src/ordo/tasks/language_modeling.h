// SPDX-License-Identifier: Apache-2.0
// Predict the next token of a text.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ordo/tasks/corpus_task.h"
#include "ordo/tasks/ngram_model.h"

namespace ordo {

class LanguageModeling final : public CorpusTask {
 public:
  struct Config : CorpusConfig {
    Sampling sampling = Sampling::random;
    bool baselines = false;
  };
  static constexpr std::string_view kKind = "language_modeling", kSummary = "predict the next token of a text";
  LanguageModeling(const Config& config, const TaskFacts& facts);
  std::optional<std::string> refuses(const Model& model) const override;
  bool judges_windows() const override { return true; }
  bool rows_go_on() const override { return sampling() == Sampling::consecutive; }
  // loss (nats a token), perplexity, accuracy; with a tokenizer bits_per_character and bits_per_byte of its text. With
  // `baselines` unigram_loss and bigram_loss of counts over the training tokens, beside which the loss is read. A
  // model that keeps the segments before reads each document from its start, a row at a time.
  Evaluation evaluate(Model& model, const StreamOptions& options) const override;
  std::shared_ptr<const TextWriter> writer() const override;

 private:
  std::optional<std::string> refuses_memory(const Model& model) const;
  std::unique_ptr<WindowStream> to_judge(const Model& model, const StreamOptions& options) const;
  void add_baselines(Split split, Evaluation& made) const;
  bool baselines_;
  mutable std::map<Split, NgramLosses> baseline_losses_;
};
void fields(Fields& f, LanguageModeling::Config& c);

}  // namespace ordo
