// SPDX-License-Identifier: Apache-2.0
// Examples of a sequence task as batches.
#include "ordo/data/examples.h"
#include "ordo/tasks/sequence_task.h"

namespace ordo {

class SequenceExamples final : public ExampleSet {
 public:
  SequenceExamples(const SequenceTask& task, const StreamOptions& options)
      : task_(task),
        options_(options),
        count_(options.training ? task.training_count(options.length)
                                : task.held_out_count(options.split, options.length)) {
    require<DataError>(count_ > 0 || options.training, "the {} split has no example of length {}",
                       split_name(options.split), options.length);
  }
  int64_t count() const override { return count_; }
  Batch batch(std::span<const uint64_t> numbers) const override {
    std::vector<Example> examples;
    for (const uint64_t number : numbers)
      examples.push_back(options_.training ? task_.training_example(options_.seed, number, options_.length)
                                           : task_.held_out_example(options_.split, number, options_.length));
    return task_.batch_of(examples);
  }
  int64_t length(uint64_t number) const override { return options_.training ? task_.training_length(number) : 0; }
  std::string name(uint64_t number) const override { return task_.where(options_.split, number); }

 private:
  const SequenceTask& task_;
  StreamOptions options_;
  int64_t count_;
};

std::unique_ptr<BatchStream> SequenceTask::open(const StreamOptions& options) const {
  const auto refusal = refuses_length(options.split, options.length);
  require<ConfigError>(!refusal, "{}", refusal.value_or(""));
  require<ConfigError>(options.training || options.stride == 0,
                       "{} is judged by whole examples, over which no window slides: leave the stride out", kind());
  const bool by_length = batches_by_length();
  return example_stream(std::make_shared<SequenceExamples>(*this, options),
                        {.batch_size = options.batch_size,
                         .batch_tokens = by_length ? options.batch_tokens : 0,
                         .by_length = by_length,
                         .training = options.training,
                         .seed = options.seed,
                         .ranks = options.ranks,
                         .mixed = options.training ? training_mixture(options.length) : MixedExamples()});
}

}  // namespace ordo
