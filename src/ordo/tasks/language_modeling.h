// SPDX-License-Identifier: Apache-2.0
// Predict the next token of a text.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ordo/data/corpus.h"
#include "ordo/data/streams.h"
#include "ordo/tasks/task.h"

namespace ordo {

class LanguageModeling final : public Task {
 public:
  struct Config {
    std::optional<Choice<Tokenizer>> tokenizer = {};
    DataConfig data;
    int64_t vocab_size = 0;  // 0: the tokenizer's
    Sampling sampling = Sampling::random;
  };
  static constexpr std::string_view kKind = "language_modeling", kSummary = "predict the next token of a text";
  LanguageModeling(const Config& config, const TaskFacts& facts);
  ModelFacts complete(ModelFacts facts) const override;
  std::optional<std::string> refuses(const Model& model) const override;
  std::unique_ptr<BatchStream> open(const StreamOptions& options) const override;
  bool has(Split split) const override { return corpus_->has(split); }
  bool judges_windows() const override { return true; }
  bool draws_examples() const override { return config_.data.generate.has_value(); }
  Loss loss(Model& model, const Batch& batch, const LossOptions& options) const override;
  // loss (nats a token), perplexity, accuracy; with a tokenizer bits_per_character and bits_per_byte of its text.
  Evaluation evaluate(Model& model, const StreamOptions& options) const override;
  const Tokenizer* tokenizer() const override;
  std::shared_ptr<const TextWriter> writer() const override;
  uint64_t fingerprint() const override;
  std::vector<std::string> summary() const override;

 private:
  int64_t vocab_size() const;
  std::shared_ptr<const TokenSequence> tokens(Split split) const;
  Config config_;
  TaskFacts facts_;
  // Read when first needed.
  std::unique_ptr<Corpus> corpus_;
  mutable std::shared_ptr<const Tokenizer> tokenizer_;
};
void fields(Fields& f, LanguageModeling::Config& c);

}  // namespace ordo
