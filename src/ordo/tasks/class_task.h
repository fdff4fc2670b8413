// SPDX-License-Identifier: Apache-2.0
// Classification of whole rows: of a text, an image, a sound. The model makes one vector of a row (model.pool), and its
// head a number for each class. With one label the loss is the cross-entropy of that class, in nats an example; with
// several (each class is true or not, whatever the others are) the binary cross-entropy of each class, in nats a
// decision, of which an example has one a class.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/data/examples.h"
#include "ordo/tasks/predictor.h"
#include "ordo/tasks/task.h"

namespace ordo {

// Examples and what they are.
class LabelledSet : public ExampleSet {
 public:
  // What the model reads of them: ids or a signal, with positions and mask. Targets and weight are ClassTask's.
  Batch batch(std::span<const uint64_t> numbers) const override = 0;
  // Its classes, ascending: one, or of several labels any number.
  virtual std::span<const int64_t> labels(uint64_t number) const = 0;
  // What a person is shown of it, an object: {"text": "…"}, {"file": "a.png"}.
  virtual Json shown(uint64_t number) const = 0;
  // What is to be read beside the figures: how many texts were cut.
  virtual std::vector<std::string> notes() const { return {}; }
};

// A task of this kind gives its classes and its examples, and what else a Task is asked for: has, fingerprint, summary,
// row_length, refuses_length.
class ClassTask : public Task {
 public:
  // Adds the classes; a task adds what its model reads: vocab_size, or signal.
  ModelFacts complete(ModelFacts facts) const override;
  std::optional<std::string> refuses(const Model& model) const override;
  std::unique_ptr<BatchStream> open(const StreamOptions& options) const final;
  // Label smoothing moves a target towards 1 / classes, with several labels towards 1/2. Throws ConfigError for z-loss
  // with several labels: they have no normaliser that it could hold.
  Loss loss(Model& model, const Batch& batch, const LossOptions& options) const final;
  // With one label: loss, accuracy, matthews, precision_macro, recall_macro, f1_macro, calibration_error, and auc (of
  // two classes) or auc_macro. With several: loss, subset_accuracy, hamming_loss, macro and micro scores, auc_macro.
  // With details the scores of each class too, and of one label who was taken for whom, as a note.
  Evaluation evaluate(Model& model, const StreamOptions& options) const final;
  const Tokenizer* tokenizer() const override { return nullptr; }
  std::shared_ptr<const Predictor> predictor() const final;

  virtual std::string_view kind() const = 0;
  virtual const std::vector<std::string>& classes() const = 0;
  virtual bool several_labels() const { return false; }
  // Of options.split, at options.length. Throws DataError when there is none.
  virtual std::shared_ptr<const LabelledSet> examples(const StreamOptions& options) const = 0;

  // What a single input is, for people, and whether it is named by a path; nothing: none can be given.
  struct InputKind {
    std::string name;
    bool is_file = false;
  };
  virtual std::optional<InputKind> input_kind() const { return std::nullopt; }
  // Inputs of that kind, without labels. Throws DataError, with the place, for what cannot be read or is too long.
  virtual std::shared_ptr<const ExampleSet> inputs(std::span<const PredictorInput> given, int64_t length) const;

 protected:
  // Are rows of unequal length, so that batches of like ones, and batches by their tokens, are worth while?
  virtual bool unequal_lengths() const { return false; }
  // Of its training examples, where files have weights; else no parts.
  virtual MixedExamples mixed() const { return {}; }
  // What training changes of its rows by chance, drawn from batch.draw.
  virtual Batch varied(const Batch& batch) const { return batch; }
};

}  // namespace ordo
