// SPDX-License-Identifier: Apache-2.0
// Tasks over examples: a row of symbols, and what is asked of it. A causal model reads a mark of the start and the
// example, and then writes the answer; the encoder of an encoder-decoder reads the example alone, and its decoder
// writes the answer after a mark of the start; a two-sided model fills slots behind the example, or, where the answer
// is one symbol, gives it for the whole row.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ordo/data/examples.h"
#include "ordo/generate/generate.h"
#include "ordo/tasks/task.h"

namespace ordo {

class SequenceExamples;  // sequence_stream.cpp
class TokenExamples;     // token_examples.h

// What is asked: `label`: one symbol for the whole row; `sequence`: symbols that follow the row; `each`: one symbol
// for each of the row's own.
enum class Asks { label, sequence, each };
// Where a label is read: from the mean of the row, or at a closing "?". Automatic: the mean in a two-sided model, the
// end in a causal one.
enum class ReadAt { automatic, mean, end };

struct Example {
  std::vector<int64_t> given;  // symbols, by their index
  std::vector<int64_t> asked;  // label: one; sequence: the answer; each: as many as given (kIgnore: not asked)
};

// Their rows, loss and judgement. Examples are drawn (drawn_task.h) or read from files (pairs.h).
// The size of an example is what train.length and evaluate.lengths count: symbols to copy, words of a sentence, digits
// of a summand.
class SequenceTask : public Task {
 public:
  ModelFacts complete(ModelFacts facts) const final;
  std::optional<std::string> refuses(const Model& model) const override;
  int64_t row_length(int64_t size) const final;
  std::unique_ptr<BatchStream> open(const StreamOptions& options) const final;
  Loss loss(Model& model, const Batch& batch, const LossOptions& options) const final;
  // loss, perplexity and accuracy of the symbols asked; exact_match of whole answers where they are several. With
  // details their intervals, from drawing examples (twins together), and rows {"given", "asked", "likeliest", "right",
  // "loss"}: likeliest is the symbol that the model holds likeliest at each place, right symbols before it, which is no
  // answer that it wrote.
  Evaluation evaluate(Model& model, const StreamOptions& options) const override;
  const Tokenizer* tokenizer() const override { return nullptr; }

  virtual std::string_view kind() const = 0;
  virtual const std::vector<std::string>& symbols() const = 0;
  // The symbol of answers that are never right, whatever the model writes; nothing: there is none.
  virtual std::optional<int64_t> never_right() const { return std::nullopt; }
  Asks asks() const { return asks_; }
  std::string text(const Example& example) const;  // "3 1 2 -> 2 1 3"
  // Held-out examples i * twins() … (i + 1) * twins() - 1 belong together: the same words in both orders.
  virtual int64_t twins() const { return 1; }
  // Where an example came from: "test example 6"; of files "a.tsv: line 7".
  virtual std::string where(Split split, uint64_t index) const;

  // Symbols given and asked at this size, at the most. Throws ConfigError for a size that the settings do not allow.
  virtual int64_t given_length(int64_t size) const = 0;
  virtual int64_t asked_length(int64_t size) const = 0;
  // Symbols that examples are given, where these are others than they ask for; 0: the same ones. For an encoder alone.
  virtual int64_t given_symbols() const { return 0; }
  // Examples of an epoch at this train.length; 0: without end.
  virtual int64_t training_count(int64_t longest) const = 0;
  // Of these examples, where files have weights; else no parts.
  virtual MixedExamples training_mixture(int64_t longest) const {
    (void)longest;
    return {};
  }
  // Do their lengths differ so much that a batch should have like ones? Then training_length tells them.
  virtual bool batches_by_length() const { return false; }
  virtual int64_t training_length(uint64_t index) const {
    (void)index;
    return 0;
  }
  // `seed`: the run's; `longest`: train.length.
  virtual Example training_example(uint64_t seed, uint64_t index, int64_t longest) const = 0;
  virtual int64_t held_out_count(Split split, int64_t size) const = 0;
  virtual Example held_out_example(Split split, uint64_t index, int64_t size) const = 0;

 protected:
  SequenceTask(const TaskFacts& facts, Asks asks, ReadAt read = ReadAt::automatic);
  uint64_t seed() const { return facts_.seed; }
  Prompt prompt_of(std::vector<int64_t> given) const;  // from where a causal model writes a `sequence`
  // Are examples told by their symbols (StreamOptions.details)? Else the task tells them in its own words.
  virtual bool tells_symbols() const { return true; }

 private:
  friend class SequenceExamples;
  bool reads_mean() const;
  struct Rows {
    std::vector<std::vector<int64_t>> ids, targets, sources;  // sources: for an encoder alone
  };
  void lay_out(const Example& example, Rows& rows) const;
  void lay_out_pair(const Example& example, Rows& rows) const;
  Batch batch_of(const std::vector<Example>& examples) const;
  Tensor judged(Model& model, const Batch& batch) const;  // the hidden states that targets belong to
  std::string words(const std::vector<int64_t>& ids) const;
  void add_rows(const StreamOptions& options, const TokenExamples& examples,
                const std::vector<std::vector<int64_t>>& likeliest, Evaluation& made) const;
  TaskFacts facts_;
  Asks asks_;
  ReadAt read_;
};

}  // namespace ordo
