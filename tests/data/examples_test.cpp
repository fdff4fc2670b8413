// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/ops/full.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "ordo/core/errors.h"
#include "ordo/data/examples.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

// Example i is its number, and i % 7 + 1 tokens long.
class Numbers final : public ExampleSet {
 public:
  explicit Numbers(int64_t count) : count_(count) {}
  int64_t count() const override { return count_; }
  Batch batch(std::span<const uint64_t> numbers) const override {
    int64_t longest = 0;
    for (const uint64_t number : numbers) longest = std::max(longest, length(number));
    return {.ids = at::full({std::ssize(numbers), longest}, 1, at::kLong)};
  }
  int64_t length(uint64_t number) const override { return static_cast<int64_t>(number % 7) + 1; }
  std::string name(uint64_t number) const override { return std::to_string(number); }

 private:
  int64_t count_;
};

std::unique_ptr<BatchStream> opened(const ExampleStreamOptions& options, int64_t count = 200) {
  return example_stream(std::make_shared<Numbers>(count), options);
}

// The names of one epoch's batches.
std::vector<std::vector<std::string>> epoch_of(BatchStream& stream) {
  const int64_t epoch = stream.epoch();
  std::vector<std::vector<std::string>> batches;
  while (stream.epoch() == epoch) batches.push_back(stream.next()->examples);
  return batches;
}

constexpr ExampleStreamOptions kByLength{.batch_size = 8, .by_length = true, .seed = 3};

}  // namespace

TEST_CASE("examples by length: each once an epoch, lengths in a batch alike, batches in shuffled order", "[unit]") {
  const auto stream = opened(kByLength);
  CHECK(stream->batches_per_epoch() == 25.0);
  const auto first = epoch_of(*stream), second = epoch_of(*stream);
  CHECK(first.size() == 25);
  std::set<std::string> all;
  std::vector<int> lengths;
  for (const auto& batch : first) {
    all.insert(batch.begin(), batch.end());
    const auto [low, high] = std::minmax_element(
        batch.begin(), batch.end(), [](const auto& a, const auto& b) { return std::stoi(a) % 7 < std::stoi(b) % 7; });
    CHECK(std::stoi(*high) % 7 - std::stoi(*low) % 7 <= 1);
    lengths.push_back(std::stoi(batch.front()) % 7);
  }
  CHECK(all.size() == 200);
  CHECK_FALSE(std::is_sorted(lengths.begin(), lengths.end()));
  CHECK(first != second);
}

TEST_CASE("a budget of tokens gives as many rows as fit, and at least one", "[unit]") {
  const auto stream = opened({.batch_size = 4, .batch_tokens = 21, .by_length = true, .seed = 3});
  int64_t rows = 0;
  for (const int64_t epoch = stream->epoch(); stream->epoch() == epoch;) {
    const Batch batch = *stream->next();
    CHECK(batch.ids.numel() <= 21);
    rows += batch.ids.size(0);
  }
  CHECK(rows == 200);
  const auto narrow = opened({.batch_tokens = 3, .by_length = true, .seed = 3});
  for (int i = 0; i < 50; ++i) {
    const Batch batch = *narrow->next();
    CHECK((batch.ids.size(0) == 1 || batch.ids.numel() <= 3));
  }
}

TEST_CASE("a stream goes on from its state, in plain order and by length", "[unit]") {
  for (const bool by_length : {false, true}) {
    ExampleStreamOptions options = kByLength;
    options.by_length = by_length;
    const auto whole = opened(options), before = opened(options), after = opened(options);
    for (int i = 0; i < 30; ++i) before->next(), whole->next();
    after->restore(before->state());
    for (int i = 0; i < 40; ++i) CHECK(after->next()->examples == whole->next()->examples);
  }
}

TEST_CASE("several processes share every batch by length", "[unit]") {
  ExampleStreamOptions one = kByLength, two = kByLength;
  one.batch_size = 16;
  const auto whole = opened(one);
  std::vector<std::unique_ptr<BatchStream>> parts;
  for (const int64_t rank : {0, 1}) {
    two.ranks = {rank, 2};
    parts.push_back(opened(two));
  }
  for (int i = 0; i < 20; ++i) {
    std::vector<std::string> together;
    for (const auto& part : parts) {
      const auto names = part->next()->examples;
      together.insert(together.end(), names.begin(), names.end());
    }
    CHECK(together == whole->next()->examples);
  }
}

TEST_CASE("evaluation reads in order, once; examples without end have no lengths to go by", "[unit]") {
  const auto stream = opened({.batch_size = 64, .training = false});
  std::vector<std::string> names;
  while (const auto batch = stream->next()) names.insert(names.end(), batch->examples.begin(), batch->examples.end());
  CHECK(names.size() == 200);
  CHECK(names[77] == "77");
  CHECK(contains(thrown<ConfigError>([] { opened(kByLength, 0); }), "without end"));
}

}  // namespace ordo::test
