// SPDX-License-Identifier: Apache-2.0
// Write the spans that are missing from a text (Raffel et al. 2020): of a window, spans are cut out, and in the place
// of each stands a sentinel, <0>, <1>, …; the answer is each sentinel with its span, and a last sentinel behind them.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "ordo/tasks/corpus_task.h"
#include "ordo/tasks/spans.h"

namespace ordo {

class SpanCorruption final : public CorpusTask {
 public:
  struct Config : CorpusConfig {
    double share = 0.15, mean_span = 3.0;
    int64_t sentinels = 100;
  };
  static constexpr std::string_view kKind = "span_corruption",
                                    kSummary = "write the spans that are missing from a text, by an encoder-decoder";
  SpanCorruption(const Config& config, const TaskFacts& facts);
  ModelFacts complete(ModelFacts facts) const override;
  std::optional<std::string> refuses(const Model& model) const override;
  std::optional<std::string> refuses_length(Split split, int64_t length) const override;
  int64_t row_length(int64_t length) const override;
  // loss (nats a token written), perplexity, accuracy.
  Evaluation evaluate(Model& model, const StreamOptions& options) const override;

 private:
  int64_t own_ids() const override;
  BatchMaker maker(const StreamOptions& options) const override;
  // With the tokenizer's own ids where it has them (<extra_id_0>, …; <pad>), else those behind its vocabulary.
  SpanRules rules() const;
  Config config_;
};
void fields(Fields& f, SpanCorruption::Config& c);

}  // namespace ordo
