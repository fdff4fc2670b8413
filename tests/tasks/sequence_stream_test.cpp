// SPDX-License-Identifier: Apache-2.0
// The rows of several processes are together those of one.
#include "support/catch.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>

#include <set>

#include "ordo/tasks/copy.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

constexpr int64_t kSize = 5;  // of all examples, so that all rows are equally wide

Copy copying(int64_t examples, int64_t held_out) {
  return Copy({.drawn = {.shortest = kSize, .examples = examples, .held_out = held_out}}, {.seed = 2});
}

StreamOptions share(bool training, int64_t rows, Ranks ranks) {
  return {.split = training ? Split::train : Split::test,
          .batch_size = rows,
          .length = kSize,
          .seed = 6,
          .training = training,
          .ranks = ranks};
}

struct Rows {
  std::vector<std::string> names;
  std::vector<Tensor> ids;
  void add(const Batch& batch) {
    names.insert(names.end(), batch.examples.begin(), batch.examples.end());
    ids.push_back(batch.ids);
  }
  void check_same(const Rows& other) const {
    REQUIRE(names == other.names);
    CHECK(at::equal(at::cat(ids), at::cat(other.ids)));
  }
};

// Batches of all processes, step by step, in the order of the processes.
Rows of_processes(const Task& task, int64_t count, int64_t rows, int64_t steps) {
  std::vector<std::unique_ptr<BatchStream>> streams;
  for (int64_t rank = 0; rank < count; ++rank) streams.push_back(task.open(share(true, rows, {rank, count})));
  Rows all;
  for (int64_t step = 0; step < steps; ++step)
    for (const auto& stream : streams) all.add(*stream->next());
  return all;
}

}  // namespace

TEST_CASE("several processes train on the rows of one, with and without an end of the data", "[unit]") {
  for (const int64_t examples : {0, 11}) {
    CAPTURE(examples);
    const Copy task = copying(examples, 1);
    for (const int64_t count : {2, 3}) {
      const Rows together = of_processes(task, count, 2, 5);
      together.check_same(of_processes(task, 1, 2 * count, 5));
    }
  }
}

TEST_CASE("a training set's last examples are left to the next epoch where they are fewer than the processes",
          "[unit]") {
  const Copy task = copying(9, 1);
  const auto first = task.open(share(true, 2, {0, 2})), second = task.open(share(true, 2, {1, 2}));
  std::set<std::string> seen;
  for (int step = 0; step < 2; ++step)
    for (auto* stream : {first.get(), second.get()})
      for (const Batch batch = *stream->next(); const auto& name : batch.examples) seen.insert(name);
  CHECK(seen.size() == 8);
  CHECK(first->epoch() == 1);
  CHECK(second->epoch() == 1);
  CHECK(first->next()->examples.size() == 2);
  CHECK(contains(thrown<DataError>([&] {
                   copying(2, 1).open(share(true, 2, {0, 3}));
                 }),
                 "2 training examples are too few for 3 processes"));
}

TEST_CASE("several processes judge the rows of one, each once, be they fewer than the processes", "[unit]") {
  for (const int64_t held_out : {1, 2, 7, 12}) {
    CAPTURE(held_out);
    const Copy task = copying(0, held_out);
    std::vector<std::string> names;
    for (int64_t rank = 0; rank < 3; ++rank) {
      const auto stream = task.open(share(false, 2, {rank, 3}));
      while (const auto batch = stream->next()) {
        REQUIRE(batch->ids.size(0) == std::ssize(batch->examples));
        names.insert(names.end(), batch->examples.begin(), batch->examples.end());
      }
    }
    Rows whole;
    whole.add(*task.open(share(false, held_out, {}))->next());
    REQUIRE(std::ssize(names) == held_out);
    CHECK(std::set(names.begin(), names.end()) == std::set(whole.names.begin(), whole.names.end()));
  }
}

}  // namespace ordo::test
