// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/ops/full.h>

#include <algorithm>
#include <map>
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

// 200 examples, of which every fifth is of a part that has three quarters of the weight.
std::unique_ptr<BatchStream> opened_mixed(ExampleStreamOptions options) {
  options.mixed = mixed_examples({"few.tsv", "many.tsv"}, {3, 1}, 200, [](uint64_t n) { return n % 5 == 0 ? 0U : 1U; });
  return opened(options);
}

bool of_few(const std::string& name) { return std::stoi(name) % 5 == 0; }

// The names of the next `count` examples in one row.
std::vector<std::string> next_names(BatchStream& stream, size_t count) {
  std::vector<std::string> names;
  while (names.size() < count) {
    const auto batch = stream.next()->examples;
    names.insert(names.end(), batch.begin(), batch.end());
  }
  return names;
}

const ExampleStreamOptions kByLength{.batch_size = 8, .by_length = true, .seed = 3};

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

TEST_CASE(
    "examples of weighted parts: shares hold in each epoch, and no example comes again before all others of its "
    "part were there",
    "[unit]") {
  const auto stream = opened_mixed({.batch_size = 8, .seed = 3});
  std::map<bool, std::multiset<std::string>> seen;
  for (int64_t epoch = 0; epoch < 4; ++epoch) {
    CHECK(stream->epoch() == epoch);
    const auto names = next_names(*stream, 200);
    CHECK(std::count_if(names.begin(), names.end(), of_few) == 150);
    for (const auto& name : names) {
      auto& part = seen[of_few(name)];
      const size_t size = of_few(name) ? 40 : 160;
      CHECK(part.count(name) == part.size() / size);  // as often as the part was passed before
      part.insert(name);
    }
  }
  CHECK(seen[true].size() == 600);   // 15 passes
  CHECK(seen[false].size() == 200);  // the second pass has begun
}

TEST_CASE(
    "examples of weighted parts: gone on from any place, and with another batch size, the order is that of no stop",
    "[unit]") {
  const auto whole = next_names(*opened_mixed({.batch_size = 1, .seed = 3}), 450);
  for (const int64_t batch_size : {8, 25})
    for (int64_t stop = 0; stop < 440; stop += 7) {
      const auto before = opened_mixed({.batch_size = 1, .seed = 3});
      next_names(*before, static_cast<size_t>(stop));
      const auto after = opened_mixed({.batch_size = batch_size, .seed = 3});
      after->restore(before->state());
      auto rest = next_names(*after, static_cast<size_t>(450 - stop));
      rest.resize(static_cast<size_t>(450 - stop));
      CAPTURE(batch_size, stop);
      CHECK(rest == std::vector<std::string>(whole.begin() + stop, whole.end()));
    }
}

TEST_CASE("examples of weighted parts: by length and by tokens, batches are alike and shares hold", "[unit]") {
  for (const int64_t batch_tokens : {0, 40}) {
    ExampleStreamOptions options = kByLength;
    options.batch_tokens = batch_tokens;
    const auto stream = opened_mixed(options);
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      std::vector<std::string> names;
      for (const auto& batch : epoch_of(*stream)) {
        const auto [low, high] = std::minmax_element(batch.begin(), batch.end(), [](const auto& a, const auto& b) {
          return std::stoi(a) % 7 < std::stoi(b) % 7;
        });
        CHECK(std::stoi(*high) % 7 - std::stoi(*low) % 7 <= 1);
        names.insert(names.end(), batch.begin(), batch.end());
      }
      CHECK(names.size() == 200);
      CHECK(std::count_if(names.begin(), names.end(), of_few) == 150);
    }
  }
}

TEST_CASE("examples of weighted parts: processes share out the batch of one process", "[unit]") {
  for (const bool by_length : {false, true}) {
    const auto whole = opened_mixed({.batch_size = 8, .by_length = by_length, .seed = 5});
    std::vector<std::unique_ptr<BatchStream>> parts;
    for (const int64_t rank : {0, 1})
      parts.push_back(opened_mixed({.batch_size = 4, .by_length = by_length, .seed = 5, .ranks = {rank, 2}}));
    for (int i = 0; i < 60; ++i) {
      std::vector<std::string> together;
      for (const auto& part : parts) {
        const auto names = part->next()->examples;
        together.insert(together.end(), names.begin(), names.end());
      }
      CHECK(together == whole->next()->examples);
    }
  }
}

TEST_CASE("examples of weighted parts: a part without an example is named, in training alone", "[unit]") {
  const auto mixed = mixed_examples({"a.tsv", "b.tsv"}, {1, 1}, 3, [](uint64_t) { return 0U; });
  CHECK(contains(thrown<DataError>([&] { opened({.mixed = mixed}, 3); }), "b.tsv has nothing to train on"));
  CHECK_NOTHROW(opened({.training = false, .mixed = mixed}, 3));
}

}  // namespace ordo::test
