// SPDX-License-Identifier: Apache-2.0
// Tasks over windows of a text: how it is read, encoded and split.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ordo/core/errors.h"
#include "ordo/data/corpus.h"
#include "ordo/data/streamed_text.h"
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
  std::unique_ptr<BatchStream> open(const StreamOptions& options) const final;
  bool has(Split split) const final { return corpus_->has(split); }
  bool draws_examples() const final { return corpus_config_.data.generate.has_value(); }
  Loss loss(Model& model, const Batch& batch, const LossOptions& options) const final;
  const Tokenizer* tokenizer() const final;
  uint64_t fingerprint() const final;
  std::vector<std::string> summary() const final;
  std::vector<std::string> left_out(int64_t length) const final;   // but for what is streamed
  std::shared_ptr<const TokenSequence> tokens(Split split) const;  // encoded when first asked for

 protected:
  CorpusTask(const CorpusConfig& config, const TaskFacts& facts, Sampling sampling = Sampling::packed);
  int64_t text_vocab_size() const;  // of the ids that stand for text: the tokenizer's, or those of token files
  int64_t vocab_size() const;       // of the model
  // Ids that the task needs behind those of the text.
  virtual int64_t own_ids() const { return 0; }
  Sampling sampling() const { return sampling_; }  // of training windows
  // What is made of windows; empty: rows that ask for the next token.
  virtual BatchMaker maker(const StreamOptions& options) const {
    (void)options;
    return {};
  }
  std::unique_ptr<WindowStream> windows(const StreamOptions& options) const;  // of an evaluation
  // Over the whole stream; `text`: whose characters and bytes are counted, or null. A memory of segments goes on where
  // the batches do. With details an example is a window, of its targets those that are judged in it; intervals come
  // from drawing blocks of them (judged_windows.h).
  Evaluation judged(Model& model, WindowStream& stream, const StreamOptions& options, const Tokenizer* text) const;
  // Names the split when its text is too short for the stream that `make` gives.
  template <class Make>
  auto named(Split split, const Make& make) const {
    try {
      return make();
    } catch (const DataError& error) {
      throw_too_short(split, error);
    }
  }

 private:
  [[noreturn]] void throw_too_short(Split split, const DataError& error) const;
  std::string text_to_learn() const;  // by a tokenizer
  const TextFiles& streamed_files() const;
  CorpusConfig corpus_config_;
  TaskFacts facts_;
  Sampling sampling_;
  // Read when first needed.
  std::unique_ptr<Corpus> corpus_;
  mutable std::shared_ptr<const Tokenizer> tokenizer_;
  mutable std::optional<TextFiles> streamed_files_;
};

}  // namespace ordo
