// SPDX-License-Identifier: Apache-2.0
// Data, loss and metrics of one kind of problem.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ordo/data/batch.h"
#include "ordo/data/tokenizer.h"
#include "ordo/models/model.h"
#include "ordo/statistics/interval.h"

namespace ordo {

class Predictor;   // predictor.h
class TextWriter;  // text_writer.h

// Never a mean: micro-batches, ranks and padding then average correctly.
struct Loss {
  Tensor sum;  // scalar, times LossOptions.scale
  double weight = 0.0;
};
using Metrics = std::map<std::string, double>;
// Is a larger value of this metric the better one? (accuracy, exact_match; not loss, perplexity, bits_per_…)
bool larger_is_better(std::string_view metric);

struct TaskFacts {
  fs::path saved_tokenizer = {};  // of a checkpoint: used instead of the training text
  uint64_t seed = 0;              // of generated data and of splits
  bool causal = true;             // the model sees what stands before a token alone: rows are laid out for it
  bool reads_source = false;      // the model is an encoder-decoder
};

struct StreamOptions {
  Split split = Split::train;
  int64_t batch_size = 1, length = 1;
  int64_t batch_tokens = 0;  // training: in place of batch_size, for tasks with rows of unequal length; 0: off
  uint64_t seed = 0;         // data order (training)
  bool training = true;      // endless and shuffled; else finite and in order
  // Evaluation: 0 = windows that do not overlap; n = sliding by n, each token judged once, with at least length - n
  // tokens before it.
  int64_t stride = 0;
  bool details = false;  // evaluation: with intervals and a row for each example
  Ranks ranks = {};
  const std::atomic<bool>* stop = nullptr;  // once it is set, an evaluation may return early: its metrics are not used
};

// What became of each held-out example, for statistics that draw among them.
struct Outcomes {
  std::vector<double> accuracy;  // of each: the share of its targets that were right; empty: the task has no examples
  int64_t twins = 1;             // examples i * twins … (i + 1) * twins - 1 belong together
};
struct Evaluation {
  Metrics metrics;       // loss, perplexity, accuracy, bits_per_character, …
  double tokens = 0.0;   // targets judged
  std::string protocol;  // non_overlapping | sliding (windows of a text) | whole_examples
  Outcomes outcomes = {};
  std::vector<double> position_loss = {};  // mean loss of the targets at each place of a row; NaN where there is none
  // With StreamOptions.details:
  std::map<std::string, Interval> intervals = {};  // of metrics, from drawing examples
  std::vector<std::string> rows = {};              // of each example what became of it, a JSON object in a line
  std::vector<std::string> notes = {};  // sentences to be read beside the metrics: signatures, baselines, left-out data
};

// What the model is given of a batch.
ModelInput input_of(const Batch& batch);

// Cheap to construct: data is read when first needed.
class Task {
 public:
  virtual ~Task() = default;
  // Adds what the data decides: vocab_size; and max_length, given as train.length counts it, in tokens.
  virtual ModelFacts complete(ModelFacts facts) const = 0;
  // Why this model cannot be trained on it, in words; nothing if it can.
  virtual std::optional<std::string> refuses(const Model& model) const {
    (void)model;
    return std::nullopt;
  }
  virtual std::unique_ptr<BatchStream> open(const StreamOptions& options) const = 0;
  virtual bool has(Split split) const = 0;
  // Tokens of the longest row of this length, which train.length and evaluate.lengths count in the task's own unit.
  virtual int64_t row_length(int64_t length) const { return length; }
  // Why a split has no rows of this length, in words; nothing if it has.
  virtual std::optional<std::string> refuses_length(Split split, int64_t length) const {
    (void)split;
    (void)length;
    return std::nullopt;
  }
  // Is it judged over windows of a text, which may slide (evaluate.stride)? Else over whole examples.
  virtual bool judges_windows() const { return false; }
  // Does each row of a training batch go on where it ended in the batch before, wherever Batch::continues says so? A
  // model that keeps the segments before (model.memory) asks for it.
  virtual bool rows_go_on() const { return false; }
  // Are examples or splits drawn anew for another seed?
  virtual bool draws_examples() const { return false; }
  // Are there rows that ask for another answer when they are read backwards? An encoding that treats both sides alike,
  // in a model that sees both, cannot tell them apart.
  virtual bool mirror() const { return false; }
  virtual Loss loss(Model& model, const Batch& batch, const LossOptions& options) const = 0;
  virtual Evaluation evaluate(
      Model& model, const StreamOptions& options) const = 0;  // over the WHOLE split; the model must be in eval mode
  virtual const Tokenizer* tokenizer() const = 0;             // null when the task has none
  // How its model is asked in text and answers in text; null when it writes none. The task must outlive it.
  virtual std::shared_ptr<const TextWriter> writer() const { return nullptr; }
  // What its model says of inputs that nobody has judged; null when that is not foreseen. The task must outlive it.
  virtual std::shared_ptr<const Predictor> predictor() const { return nullptr; }
  // What of the data it does not take at this train.length, in sentences: lines that cannot be read, pairs that are too
  // long.
  virtual std::vector<std::string> left_out(int64_t length) const {
    (void)length;
    return {};
  }
  virtual uint64_t fingerprint() const = 0;  // of the training data: a resume with other data says so
  virtual std::vector<std::string> summary()
      const = 0;  // lines for `ordo check` and the log: files, characters, tokens, splits
};

using TaskCatalog = Catalog<Task, TaskFacts>;
const TaskCatalog& tasks();  // tasks/catalog.cpp
template <>
const Kinds& kinds_of<Task>();

}  // namespace ordo
