// SPDX-License-Identifier: Apache-2.0
// Tasks over windows of a text: how it is read, encoded and split.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ordo/data/corpus.h"
#include "ordo/data/streams.h"
#include "ordo/tasks/task.h"

namespace ordo {

struct CorpusConfig {
  std::optional<Choice<Tokenizer>> tokenizer = {};
  DataConfig data;
  int64_t vocab_size = 0;  // 0: as many as are needed
};
void fields(Fields& f, CorpusConfig& c);

class CorpusTask : public Task {
 public:
  ModelFacts complete(ModelFacts facts) const override;
  bool has(Split split) const final { return corpus_->has(split); }
  bool draws_examples() const final { return corpus_config_.data.generate.has_value(); }
  Loss loss(Model& model, const Batch& batch, const LossOptions& options) const final;
  const Tokenizer* tokenizer() const final;
  uint64_t fingerprint() const final;
  std::vector<std::string> summary() const final;
  std::shared_ptr<const TokenSequence> tokens(Split split) const;  // encoded when first asked for

 protected:
  CorpusTask(const CorpusConfig& config, const TaskFacts& facts);
  int64_t text_vocab_size() const;  // of the ids that stand for text: the tokenizer's, or those of token files
  int64_t vocab_size() const;       // of the model
  // Ids that the task needs behind those of the text.
  virtual int64_t own_ids() const { return 0; }
  // Over the whole stream; `text`: whose characters and bytes are counted, or null. A memory of segments goes on where
  // the batches do.
  Evaluation judged(Model& model, BatchStream& stream, const StreamOptions& options, const Tokenizer* text) const;
  // Names the split when its text is too short for `make`.
  std::unique_ptr<BatchStream> named(Split split, const std::function<std::unique_ptr<BatchStream>()>& make) const;

 private:
  CorpusConfig corpus_config_;
  TaskFacts facts_;
  // Read when first needed.
  std::unique_ptr<Corpus> corpus_;
  mutable std::shared_ptr<const Tokenizer> tokenizer_;
};

}  // namespace ordo
