// SPDX-License-Identifier: Apache-2.0
// Find hidden tokens of a text from both sides (Devlin et al. 2019). Which ones are hidden is drawn anew each epoch; in
// an evaluation they are always the same.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "ordo/tasks/corpus_task.h"
#include "ordo/tasks/masking.h"

namespace ordo {

class MaskedLanguageModeling final : public CorpusTask {
 public:
  struct Config : CorpusConfig {
    double share = 0.15, masked = 0.8, random = 0.1;
    bool whole_words = false;
  };
  static constexpr std::string_view kKind = "masked_language_modeling",
                                    kSummary = "find hidden tokens of a text from both sides";
  MaskedLanguageModeling(const Config& config, const TaskFacts& facts);
  std::optional<std::string> refuses(const Model& model) const override;
  // loss (nats a hidden token), perplexity, accuracy.
  Evaluation evaluate(Model& model, const StreamOptions& options) const override;

 private:
  int64_t own_ids() const override;
  BatchMaker maker(const StreamOptions& options) const override;
  // The tokenizer's own mask, or the id behind those of the text.
  int64_t mask_id() const;
  Masking masking() const;
  Config config_;
};
void fields(Fields& f, MaskedLanguageModeling::Config& c);

}  // namespace ordo
