// SPDX-License-Identifier: Apache-2.0
// Tasks whose examples are made from a seed: a row of symbols, and what is asked of it. A causal model reads a
// mark of the start and the example, and then writes the answer; a two-sided one fills slots behind it, or, where the
// answer is one symbol, gives it for the whole row.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ordo/core/hash.h"
#include "ordo/tasks/task.h"

namespace ordo {

class ExampleStream;  // sequence_stream.cpp

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

std::vector<std::string> numbered_symbols(int64_t count);  // "0", "1", …

// Settings of every such task.
struct SequenceConfig {
  int64_t shortest = 0;  // smallest size trained on; 0: the task's own least
  int64_t common = 0;    // sizes up to this one are drawn with probability common_share; 0: all sizes alike
  double common_share = 0.0;
  int64_t examples = 0;    // of a training set; 0: fresh ones without end
  int64_t held_out = 500;  // examples of validation and of test, at each length
  ReadAt read = ReadAt::automatic;
};
// For the fields() of each task; `asks`: only a label is read somewhere.
void sequence_fields(Fields& f, SequenceConfig& c, Asks asks);

// The size of an example is what train.length and evaluate.lengths count: symbols to copy, words of a sentence, digits
// of a summand. Training draws sizes evenly from [shortest, train.length], or the common ones among them more often;
// an evaluation takes all of one size.
// Examples follow from the task's seed: held-out ones from it alone, fresh training ones from it and the run's seed.
class SequenceTask : public Task {
 public:
  ModelFacts complete(ModelFacts facts) const final;
  std::optional<std::string> refuses(const Model& model) const override;
  int64_t row_length(int64_t size) const final;
  std::unique_ptr<BatchStream> open(const StreamOptions& options) const final;
  bool has(Split split) const override;  // what is judged is held out: no evaluation of the training split
  std::optional<std::string> refuses_length(Split split, int64_t length) const override;
  Loss loss(Model& model, const Batch& batch, const LossOptions& options) const final;
  // loss, perplexity and accuracy of the symbols asked; exact_match of whole answers where they are several.
  Evaluation evaluate(Model& model, const StreamOptions& options) const final;
  const Tokenizer* tokenizer() const final { return nullptr; }
  uint64_t fingerprint() const override;
  std::vector<std::string> summary() const override;
  bool draws_examples() const override { return true; }

  // An example of exactly this size: a function of what is drawn alone.
  virtual Example example(KeyedSequence& draw, int64_t size) const = 0;
  // Held-out example number `index`; by default drawn as a training one is. Where held-out examples belong together
  // (the same words in both orders), numbers i * twins() to (i + 1) * twins() - 1 are made from the same draws.
  virtual Example held_out(uint64_t key, uint64_t index, int64_t size) const;
  virtual int64_t twins() const { return 1; }

  // Tasks whose examples are not drawn but read give these in place of example() and held_out().
  virtual int64_t training_count() const { return config_.examples; }  // of an epoch; 0: without end
  // `longest`: train.length. key: of what is drawn, by seed.
  virtual Example training_example(uint64_t key, uint64_t index, int64_t longest) const;
  virtual int64_t held_out_count(Split split, int64_t size) const;
  virtual Example held_out_example(Split split, uint64_t index, int64_t size) const;
  // Symbols given and asked at this size, at the most. Throws ConfigError for a size that the settings do not allow.
  virtual int64_t given_length(int64_t size) const { return size; }
  virtual int64_t asked_length(int64_t size) const { return size; }
  virtual int64_t least_size() const { return 1; }
  virtual std::string_view kind() const = 0;

  virtual const std::vector<std::string>& symbols() const { return symbols_; }
  Asks asks() const { return asks_; }
  std::string text(const Example& example) const;  // "3 1 2 -> 2 1 3"

 protected:
  SequenceTask(const SequenceConfig& config, const TaskFacts& facts, Asks asks, std::vector<std::string> symbols);
  uint64_t seed() const { return facts_.seed; }

 private:
  friend class ExampleStream;
  bool reads_mean() const;
  int64_t smallest() const;
  std::optional<std::string> refuses_common(int64_t least, int64_t longest) const;
  Batch batch_of(const std::vector<Example>& examples) const;
  Tensor judged(Model& model, const Batch& batch) const;  // the hidden states that targets belong to
  SequenceConfig config_;
  TaskFacts facts_;
  Asks asks_;
  std::vector<std::string>
      symbols_;  // after them come the marks: padding, "=", "_" (a slot), "?", and for causal models the start
};

}  // namespace ordo
