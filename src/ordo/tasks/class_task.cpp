// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/class_task.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "ordo/tasks/class_judge.h"
#include "ordo/tasks/class_predictor.h"

namespace ordo {

namespace {

// Examples with their targets: int64 [B], or of several labels float [B, K].
class ClassTargets final : public ExampleSet {
 public:
  ClassTargets(std::shared_ptr<const LabelledSet> examples, int64_t classes, bool several_labels)
      : examples_(std::move(examples)), classes_(classes), several_labels_(several_labels) {}
  int64_t count() const override { return examples_->count(); }
  int64_t length(uint64_t number) const override { return examples_->length(number); }
  std::string name(uint64_t number) const override { return examples_->name(number); }
  Batch batch(std::span<const uint64_t> numbers) const override {
    Batch batch = examples_->batch(numbers);
    batch.targets = several_labels_ ? marks(numbers) : single(numbers);
    batch.weight = static_cast<double>(batch.targets.numel());
    return batch;
  }

 private:
  Tensor single(std::span<const uint64_t> numbers) const {
    Tensor targets = at::empty({std::ssize(numbers)}, at::kLong);
    int64_t* place = targets.data_ptr<int64_t>();
    for (const uint64_t number : numbers) *place++ = examples_->labels(number).front();
    return targets;
  }
  Tensor marks(std::span<const uint64_t> numbers) const {
    Tensor targets = at::zeros({std::ssize(numbers), classes_}, at::kFloat);
    float* row = targets.data_ptr<float>();
    for (const uint64_t number : numbers) {
      for (const int64_t label : examples_->labels(number)) row[label] = 1.0F;
      row += classes_;
    }
    return targets;
  }
  std::shared_ptr<const LabelledSet> examples_;
  int64_t classes_;
  bool several_labels_;
};

}  // namespace

std::shared_ptr<const ExampleSet> ClassTask::inputs(std::span<const PredictorInput> given, int64_t length) const {
  (void)given, (void)length;
  ORDO_ASSERT(!input_kind());  // who names a kind reads it
  return nullptr;
}

std::shared_ptr<const Predictor> ClassTask::predictor() const {
  return input_kind() ? std::make_shared<ClassPredictor>(*this) : nullptr;
}

ModelFacts ClassTask::complete(ModelFacts facts) const {
  facts.outputs = std::ssize(classes());
  facts.pools = true;
  return facts;
}

std::optional<std::string> ClassTask::refuses(const Model& model) const {
  if (!model.reads_source()) return std::nullopt;
  return fmt::format(
      "{} asks for the class of a whole row, and an encoder-decoder answers in tokens; use model.kind: encoder",
      kind());
}

std::unique_ptr<BatchStream> ClassTask::open(const StreamOptions& options) const {
  const auto refusal = refuses_length(options.split, options.length);
  require<ConfigError>(!refusal, "{}", refusal.value_or(""));
  require<ConfigError>(options.training || options.stride == 0,
                       "{} is judged by whole examples, over which no window slides: leave the stride out", kind());
  auto targets = std::make_shared<ClassTargets>(examples(options), std::ssize(classes()), several_labels());
  return example_stream(std::move(targets), {.batch_size = options.batch_size,
                                             .batch_tokens = unequal_lengths() ? options.batch_tokens : 0,
                                             .by_length = unequal_lengths(),
                                             .training = options.training,
                                             .seed = options.seed,
                                             .ranks = options.ranks,
                                             .mixed = options.training ? mixed() : MixedExamples()});
}

Loss ClassTask::loss(Model& model, const Batch& batch, const LossOptions& options) const {
  const Tensor row = model.pooled(input_of(model.is_training() ? varied(batch) : batch));
  if (!several_labels()) return {.sum = model.head().loss(row, batch.targets, options), .weight = batch.weight};
  require<ConfigError>(options.z_loss == 0.0,
                       "train.z_loss holds the normaliser of a softmax, which classes of several labels have none of: "
                       "leave it out");
  return {.sum = several_labels_loss(model.head().logits(row), batch.targets, options), .weight = batch.weight};
}

Evaluation ClassTask::evaluate(Model& model, const StreamOptions& options) const {
  ORDO_ASSERT(!model.is_training());
  StreamOptions whole = options;
  whole.training = false;
  whole.ranks = {};
  const auto stream = open(whole);
  const auto set = examples(whole);
  const auto judge = class_judge(classes(), several_labels(), *set);
  const c10::NoGradGuard no_gradients;
  while (const auto batch = stream->next()) {
    if (options.stop != nullptr && options.stop->load()) return {};
    const Batch there = to_device(*batch, model.head().weight().device());
    judge->add(model.head().logits(model.pooled(input_of(there))));
  }
  Evaluation made = judge->evaluation(options);
  made.protocol = "whole_examples";
  return made;
}

}  // namespace ordo
