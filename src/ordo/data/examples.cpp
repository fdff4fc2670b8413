// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/examples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "ordo/core/hash.h"
#include "ordo/data/streams.h"

namespace ordo {

namespace {

constexpr int64_t kBatchesSorted = 64;  // enough that lengths in a batch are alike, few enough that orders differ

// The examples of an epoch in their order, and where each batch of all processes begins.
struct EpochPlan {
  std::vector<uint64_t> order;
  std::vector<int64_t> begins;  // [batches + 1]
};

class ExampleStream final : public BatchStream {
 public:
  ExampleStream(std::shared_ptr<const ExampleSet> examples, const ExampleStreamOptions& options)
      : examples_(std::move(examples)), options_(options), count_(examples_->count()) {
    require<ConfigError>(options.batch_size >= 1, "batches need a size of at least 1, found {}", options.batch_size);
    require<ConfigError>(finite() || !planned(), "examples without end cannot be laid out by their lengths");
    require<DataError>(!finite() || !options.training || count_ >= options.ranks.count,
                       "{} training examples are too few for {} processes", count_, options.ranks.count);
    if (!options.training || options.mixed.parts.empty()) return;
    mixture_.emplace(options.mixed.parts, options.seed);
    ORDO_ASSERT(mixture_->rows() == count_);
  }

  std::optional<Batch> next() override {
    while (options_.training || place_.cursor < count_) {
      const auto [begin, end] = bounds();
      std::vector<uint64_t> numbers;
      const auto [rank, ranks] = options_.ranks;
      const int64_t rows = end - begin;
      for (int64_t i = begin + rank * rows / ranks; i < begin + (rank + 1) * rows / ranks; ++i)
        numbers.push_back(numbered(i));
      advance(end);
      ORDO_ASSERT(!numbers.empty() || !options_.training);
      if (numbers.empty()) continue;  // the last rows of an evaluation were fewer than the processes
      Batch batch = examples_->batch(numbers);
      for (const uint64_t number : numbers) batch.examples.push_back(examples_->name(number));
      return batch;
    }
    return std::nullopt;
  }

  Json state() const override { return place_.to_json(); }
  void restore(const Json& state) override {
    place_ = StreamPlace::from_json(state, finite() ? count_ : std::numeric_limits<int64_t>::max());
    if (options_.training && finite() && count_ - place_.cursor < options_.ranks.count) next_epoch();
  }
  int64_t epoch() const override { return place_.epoch; }
  double batches_per_epoch() const override {
    if (!finite()) return std::numeric_limits<double>::infinity();
    if (planned()) return static_cast<double>(plan(place_.epoch).begins.size() - 1);
    return std::ceil(static_cast<double>(count_) / static_cast<double>(together()));
  }

 private:
  bool finite() const { return !options_.training || count_ > 0; }
  bool planned() const { return options_.training && (options_.by_length || options_.batch_tokens > 0); }
  int64_t together() const { return options_.batch_size * options_.ranks.count; }  // rows of all processes
  uint64_t epoch_key(int64_t epoch) const {
    return mix(key_of(options_.seed, "data order"), static_cast<uint64_t>(epoch));
  }

  // The batch at the cursor, as places in the epoch's order.
  std::pair<int64_t, int64_t> bounds() const {
    if (planned()) {
      const auto& begins = plan(place_.epoch).begins;
      return {place_.cursor, *std::upper_bound(begins.begin(), begins.end(), place_.cursor)};
    }
    return {place_.cursor, finite() ? std::min(count_, place_.cursor + together()) : place_.cursor + together()};
  }
  uint64_t numbered(int64_t i) const {
    if (planned()) return plan(place_.epoch).order[static_cast<size_t>(i)];
    if (!options_.training || !finite()) return static_cast<uint64_t>(i);
    return shuffled(place_.epoch, i);
  }
  uint64_t shuffled(int64_t epoch, int64_t i) const {
    if (!mixture_) return KeyedPermutation(epoch_key(epoch), static_cast<uint64_t>(count_))(static_cast<uint64_t>(i));
    const MixedRow row = mixture_->at(epoch, i);
    return options_.mixed.numbers[row.part][row.index];
  }
  void next_epoch() { place_ = {.epoch = place_.epoch + 1, .cursor = 0}; }
  void advance(int64_t cursor) {
    place_.cursor = cursor;
    if (options_.training && finite() && count_ - place_.cursor < options_.ranks.count) next_epoch();
  }

  const EpochPlan& plan(int64_t epoch) const {
    if (planned_epoch_ != epoch) plan_ = made_plan(epoch);
    planned_epoch_ = epoch;
    return plan_;
  }
  EpochPlan made_plan(int64_t epoch) const;
  void cut(const std::vector<uint64_t>& run, std::vector<std::vector<uint64_t>>& batches) const;

  std::shared_ptr<const ExampleSet> examples_;
  ExampleStreamOptions options_;
  int64_t count_;                   // of an epoch; 0: without end
  std::optional<Mixture> mixture_;  // of options_.mixed, if it has parts
  StreamPlace place_;
  mutable EpochPlan plan_;
  mutable int64_t planned_epoch_ = -1;
};

// A sorted run into batches: of batch_size rows, or of as many as keep rows times the longest within batch_tokens.
void ExampleStream::cut(const std::vector<uint64_t>& run, std::vector<std::vector<uint64_t>>& batches) const {
  const int64_t budget = options_.batch_tokens * options_.ranks.count;
  int64_t longest = 0;
  for (size_t i = 0; i < run.size(); ++i) {
    longest = std::max(longest, examples_->length(run[i]));
    const int64_t rows = i == 0 ? 0 : std::ssize(batches.back());
    const bool full = budget > 0 ? (rows + 1) * longest > budget && rows >= options_.ranks.count : rows >= together();
    if (i == 0 || full) {
      batches.emplace_back();
      longest = examples_->length(run[i]);
    }
    batches.back().push_back(run[i]);
  }
  // Every process has a row of every batch, so that all stay in step.
  if (std::ssize(batches.back()) < options_.ranks.count) batches.pop_back();
}

EpochPlan ExampleStream::made_plan(int64_t epoch) const {
  const int64_t sorted = together() * kBatchesSorted;
  std::vector<std::vector<uint64_t>> batches;
  for (int64_t from = 0; from < count_; from += sorted) {
    std::vector<uint64_t> run;
    for (int64_t i = from; i < std::min(count_, from + sorted); ++i) run.push_back(shuffled(epoch, i));
    std::stable_sort(run.begin(), run.end(),
                     [&](uint64_t a, uint64_t b) { return examples_->length(a) < examples_->length(b); });
    cut(run, batches);
  }
  const KeyedPermutation order(mix(epoch_key(epoch), 1), batches.size());
  EpochPlan made{.order = {}, .begins = {0}};
  for (size_t i = 0; i < batches.size(); ++i) {
    const auto& batch = batches[order(i)];
    made.order.insert(made.order.end(), batch.begin(), batch.end());
    made.begins.push_back(std::ssize(made.order));
  }
  return made;
}

}  // namespace

MixedExamples mixed_examples(const std::vector<fs::path>& entries, const std::vector<double>& weights, int64_t count,
                             const std::function<size_t(uint64_t number)>& entry_of) {
  if (weights.empty()) return {};
  MixedExamples mixed;
  mixed.numbers.resize(weights.size());
  for (uint64_t number = 0; number < static_cast<uint64_t>(count); ++number)
    mixed.numbers[entry_of(number)].push_back(number);
  for (size_t i = 0; i < weights.size(); ++i)
    mixed.parts.push_back({.name = entries[i].string(), .weight = weights[i], .count = std::ssize(mixed.numbers[i])});
  return mixed;
}

std::unique_ptr<BatchStream> example_stream(std::shared_ptr<const ExampleSet> examples,
                                            const ExampleStreamOptions& options) {
  return std::make_unique<ExampleStream>(std::move(examples), options);
}

}  // namespace ordo
