// SPDX-License-Identifier: Apache-2.0
// Classification of signals: what the tasks on images and on sounds have in common. Every channel (of a sound: every
// band) is moved and scaled so that over the training examples it has mean 0 and deviation 1; those numbers follow from
// the training data, so an evaluation finds them again.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ordo/data/bad_lines.h"
#include "ordo/data/splits.h"
#include "ordo/tasks/class_names.h"
#include "ordo/tasks/class_task.h"

namespace ordo {

struct SignalExample {
  Tensor signal;  // contiguous; an image [C, H, W], bytes or float; frames float [T, F]
  std::string label;
  std::string where;                              // "digits.csv: line 7"
  std::map<std::string, std::string> names = {};  // what else is known of it: {"speaker", "theo"}
  int64_t number = 0;                             // among those that are read together; what is left out counts
  int64_t class_number = 0;
};

// Throws DataError unless of each label that was met an example is left.
void require_each_label(const std::vector<SignalExample>& left, const std::set<std::string>& labels,
                        const BadLines& bad);

struct SignalTaskConfig {
  std::optional<Choice<SplitRule>> split = {};
  std::vector<std::string> classes = {};
};
void fields(Fields& f, SignalTaskConfig& c);

class SignalTask : public ClassTask {
 public:
  // Adds the classes, the signal and, of train.length, how long a row is.
  ModelFacts complete(ModelFacts facts) const final;
  bool has(Split split) const final;
  bool draws_examples() const final;
  uint64_t fingerprint() const final;
  std::vector<std::string> summary() const final;
  std::vector<std::string> left_out(int64_t length) const final;
  const std::vector<std::string>& classes() const final { return data().classes->all(); }
  std::shared_ptr<const LabelledSet> examples(const StreamOptions& options) const final;
  std::shared_ptr<const ExampleSet> inputs(std::span<const PredictorInput> given, int64_t length) const final;

 protected:
  // `settings`: all of the task's, as text.
  SignalTask(const SignalTaskConfig& config, const TaskFacts& facts, std::string settings);
  // What a task says of its data.
  virtual bool gives(Split split) const = 0;  // files, or examples that are made; without the rule of task.split
  virtual bool makes() const = 0;             // examples are made
  virtual std::vector<fs::path> sources(Split split) const = 0;  // of its files, or folders of such
  virtual OnBadLine on_bad_line() const = 0;
  // All of a split but for those that `bad` takes. Throws DataError when none is left, in all or of a label.
  virtual std::vector<SignalExample> read(Split split, BadLines& bad) const = 0;
  // The signal of a user's own input, such as input_kind() names. Throws DataError with the place for what cannot be
  // read, or be given to a model of this `length`.
  virtual Tensor read_input(const PredictorInput& input, int64_t length) const = 0;
  virtual SignalFacts signal() const = 0;
  virtual Tensor by_channel(const Tensor& signal) const = 0;  // of one example: [channels, values]
  virtual std::string sizes_text() const = 0;                 // of the training examples, for people
  // Examples side by side, standardised; of more than `length` what the task does with longer ones.
  virtual Batch side_by_side(std::span<const SignalExample* const> examples, int64_t length) const = 0;
  virtual int64_t length_of(const SignalExample& example, int64_t length) const = 0;  // as ExampleSet::length

  // To be called at the end of a task's constructor, for what must hold between its data and task.split.
  void require_split() const;
  const std::vector<SignalExample>& all(Split split) const { return data().splits[static_cast<size_t>(split)]; }
  // Each channel less its mean, by its deviation; `axis` is that of the channels in `signals`.
  Tensor standardised(const Tensor& signals, int64_t axis) const;
  uint64_t seed() const { return facts_.seed; }

 private:
  friend class SignalSet;
  struct Data {
    std::optional<ClassNames> classes;
    std::array<std::vector<SignalExample>, 3> splits;  // by Split
    Tensor mean, deviation;                            // float [channels]
    std::string left_out;                              // BadLines::sentence()
  };
  const Data& data() const;  // read when first needed, and shared with other tasks of the same settings
  Data made_data() const;
  void divide(std::vector<SignalExample> examples, Data& into) const;
  void name_classes(Data& data, BadLines& bad) const;
  void number_classes(Split split, Data& data, BadLines& bad) const;
  void measure_channels(Data& data) const;
  std::vector<int64_t> training_counts() const;  // by class
  SignalTaskConfig config_;
  TaskFacts facts_;
  std::string settings_;
  std::shared_ptr<const SplitRule> rule_;  // null: there is none
  mutable std::once_flag once_;
  mutable std::shared_ptr<const Data> data_;
};

}  // namespace ordo
