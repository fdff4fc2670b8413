// SPDX-License-Identifier: Apache-2.0
// Examples of a sequence task as batches.
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "ordo/data/streams.h"
#include "ordo/tasks/sequence_task.h"

namespace ordo {

class ExampleStream final : public BatchStream {
 public:
  ExampleStream(const SequenceTask& task, const StreamOptions& options)
      : task_(task),
        options_(options),
        count_(options.training ? task.training_count() : task.held_out_count(options.split, options.length)) {
    require<ConfigError>(options.batch_size >= 1, "batches need a size of at least 1, found {}", options.batch_size);
    require<DataError>(count_ > 0 || options.training, "the {} split has no example of length {}",
                       split_name(options.split), options.length);
    require<DataError>(!finite() || !options.training || count_ >= options.ranks.count,
                       "{} training examples are too few for {} processes", count_, options.ranks.count);
  }

  std::optional<Batch> next() override {
    if (!options_.training && place_.cursor >= count_) return std::nullopt;
    const int64_t rows = finite() ? std::min(count_ - place_.cursor, together()) : together();
    const auto [rank, ranks] = options_.ranks;
    std::vector<Example> examples;
    std::vector<std::string> names;
    for (int64_t i = place_.cursor + rank * rows / ranks; i < place_.cursor + (rank + 1) * rows / ranks; ++i) {
      const uint64_t number = numbered(static_cast<uint64_t>(i));
      examples.push_back(options_.training ? task_.training_example(options_.seed, number, options_.length)
                                           : task_.held_out_example(options_.split, number, options_.length));
      names.push_back(fmt::format("{} example {}", split_name(options_.split), number));
    }
    advance(rows);
    if (examples.empty()) return next();  // the last rows of an evaluation were fewer than the processes
    Batch batch = task_.batch_of(examples);
    batch.examples = std::move(names);
    return batch;
  }
  Json state() const override { return place_.to_json(); }
  void restore(const Json& state) override {
    place_ = StreamPlace::from_json(state, finite() ? count_ : std::numeric_limits<int64_t>::max());
    if (options_.training && finite() && count_ - place_.cursor < options_.ranks.count) next_epoch();
  }
  int64_t epoch() const override { return place_.epoch; }
  double batches_per_epoch() const override {
    if (!finite()) return std::numeric_limits<double>::infinity();
    return std::ceil(static_cast<double>(count_) / static_cast<double>(together()));
  }

 private:
  bool finite() const { return !options_.training || count_ > 0; }
  int64_t together() const { return options_.batch_size * options_.ranks.count; }  // rows of all processes
  uint64_t numbered(uint64_t i) const {
    if (!options_.training || !finite()) return i;
    const uint64_t key = mix(key_of(options_.seed, "data order"), static_cast<uint64_t>(place_.epoch));
    return KeyedPermutation(key, static_cast<uint64_t>(count_))(i);
  }
  void next_epoch() { place_ = {.epoch = place_.epoch + 1, .cursor = 0}; }
  void advance(int64_t rows) {
    place_.cursor += rows;
    if (options_.training && finite() && count_ - place_.cursor < options_.ranks.count) next_epoch();
  }

  const SequenceTask& task_;
  StreamOptions options_;
  int64_t count_;  // of an epoch; 0: without end
  StreamPlace place_;
};

std::unique_ptr<BatchStream> SequenceTask::open(const StreamOptions& options) const {
  const auto refusal = refuses_length(options.split, options.length);
  require<ConfigError>(!refusal, "{}", refusal.value_or(""));
  require<ConfigError>(options.training || options.stride == 0,
                       "{} is judged by whole examples, over which no window slides: leave the stride out", kind());
  return std::make_unique<ExampleStream>(*this, options);
}

}  // namespace ordo
