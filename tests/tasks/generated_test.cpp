// SPDX-License-Identifier: Apache-2.0
// What holds for every task whose examples are drawn, by being listed.
#include "support/catch.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "ordo/core/hash.h"
#include "ordo/ops/fused_loss.h"
#include "ordo/tasks/copy.h"
#include "ordo/tasks/drawn_task.h"

namespace ordo::test {

namespace {

using Generated = std::shared_ptr<const DrawnTask>;

// All of them, with their default settings. The others read files, which they are not given here.
std::vector<Generated> generated_tasks(bool causal = true) {
  std::vector<Generated> found;
  for (const auto& entry : tasks().entries()) {
    const auto config = entry.info.config();
    try {
      const auto task =
          std::dynamic_pointer_cast<const DrawnTask>(entry.build(config.get(), {.seed = 4, .causal = causal}));
      if (task) found.push_back(task);
    } catch (const ConfigError&) {
      continue;  // its files are missing
    }
  }
  return found;
}

std::vector<int64_t> sizes_of(const DrawnTask& task) {
  const int64_t least = task.least_size();
  return {least, least + 1, least + 3, least + 8, least + 20};
}

void check_symbols(const DrawnTask& task, const Example& e) {
  const auto known = [&](int64_t id) { return id >= 0 && id < std::ssize(task.symbols()); };
  REQUIRE(std::all_of(e.given.begin(), e.given.end(), known));
  REQUIRE(std::all_of(e.asked.begin(), e.asked.end(),
                      [&](int64_t id) { return known(id) || (id == kIgnore && task.asks() == Asks::each); }));
  REQUIRE(std::any_of(e.asked.begin(), e.asked.end(), known));
}

}  // namespace

TEST_CASE("generated tasks: all are found", "[unit]") {
  std::set<std::string_view> kinds;
  for (const auto& task : generated_tasks()) kinds.insert(task->kind());
  for (const std::string_view kind :
       {"copy", "reverse", "sort", "addition", "parity", "modular_sum", "majority", "dyck", "associative_recall",
        "needle", "selective_copy", "counting", "polynomial", "listops", "lag"}) {
    CAPTURE(kind);
    CHECK(kinds.contains(kind));
  }
}

TEST_CASE("generated tasks: examples keep the lengths the task promises and its symbols", "[unit]") {
  for (const auto& task : generated_tasks())
    for (const int64_t size : sizes_of(*task)) {
      CAPTURE(task->kind(), size);
      for (uint64_t i = 0; i < 200; ++i) {
        const Example e = task->held_out(7, i, size);
        REQUIRE(!e.given.empty());
        REQUIRE(std::ssize(e.given) <= task->given_length(size));
        REQUIRE(std::ssize(e.asked) <= task->asked_length(size));
        if (task->asks() == Asks::label) REQUIRE(e.asked.size() == 1);
        if (task->asks() == Asks::each) REQUIRE(e.asked.size() == e.given.size());
        check_symbols(*task, e);
      }
    }
}

TEST_CASE("generated tasks: key and number decide an example, and nothing else does", "[unit]") {
  const auto first = generated_tasks(), second = generated_tasks();
  for (size_t t = 0; t < first.size(); ++t) {
    CAPTURE(first[t]->kind());
    const int64_t size = sizes_of(*first[t]).back();
    std::set<std::string> rows, under_another_key;
    for (uint64_t i = 0; i < 200; ++i) {
      const std::string row = first[t]->text(first[t]->held_out(7, i, size));
      REQUIRE(row == second[t]->text(second[t]->held_out(7, i, size)));
      rows.insert(row);
      under_another_key.insert(first[t]->text(first[t]->held_out(8, i, size)));
    }
    CHECK(rows.size() > 150);
    CHECK(rows != under_another_key);
  }
}

TEST_CASE("generated tasks: the splits hold other examples than each other, and other ones under another seed",
          "[unit]") {
  for (const auto& entry : tasks().entries())
    for (const auto& task : generated_tasks()) {
      if (task->kind() != entry.info.kind) continue;
      CAPTURE(task->kind());
      const auto other =
          std::dynamic_pointer_cast<const DrawnTask>(entry.build(entry.info.config().get(), {.seed = 5}));
      const int64_t size = sizes_of(*task).back();
      const auto rows = [size](const DrawnTask& from, Split split) {
        std::vector<std::string> found;
        for (uint64_t i = 0; i < 20; ++i) found.push_back(from.text(from.held_out_example(split, i, size)));
        return found;
      };
      CHECK(rows(*task, Split::validation) != rows(*task, Split::test));
      CHECK(rows(*task, Split::test) != rows(*other, Split::test));
    }
}

TEST_CASE("generated tasks: rows are as long as the task promises, to either kind of model", "[unit]") {
  for (const bool causal : {true, false})
    for (const auto& task : generated_tasks(causal))
      for (const int64_t size : sizes_of(*task)) {
        CAPTURE(task->kind(), size, causal);
        const auto stream = task->open({.split = Split::test, .batch_size = 3, .length = size, .training = false});
        CHECK(stream->next()->ids.size(1) == task->row_length(size));
      }
}

TEST_CASE("generated tasks: what is trained on is not what is judged", "[unit]") {
  for (const auto& task : generated_tasks(/*causal=*/false)) {
    CAPTURE(task->kind());
    const int64_t size = sizes_of(*task).back();
    const auto rows = [&](const StreamOptions& options) {
      const Tensor ids = task->open(options)->next()->ids;
      std::vector<std::string> found;
      for (int64_t b = 0; b < ids.size(0); ++b)
        found.emplace_back(static_cast<const char*>(ids[b].data_ptr()), static_cast<size_t>(ids[b].nbytes()));
      return found;
    };
    std::set<std::string> held_out;
    for (const Split split : {Split::validation, Split::test})
      for (auto& row : rows({.split = split, .batch_size = 400, .length = size, .training = false}))
        held_out.insert(std::move(row));
    CHECK(held_out.size() > 700);
    // Seeds of runs that might be taken for sizes or splits, too. About 19 of the rows are as long as those judged; of
    // counting, where little happens, some are the same by chance.
    for (const uint64_t seed : {uint64_t{0}, uint64_t{4}, static_cast<uint64_t>(size)}) {
      const auto trained = rows({.split = Split::train, .batch_size = 400, .length = size, .seed = seed});
      CHECK(std::count_if(trained.begin(), trained.end(), [&](const auto& row) { return held_out.contains(row); }) <=
            3);
    }
  }
}

namespace {

uint64_t hash_of(const Example& e, uint64_t hash) {
  for (const auto* list : {&e.given, &e.asked}) hash = hash_bytes(list->data(), list->size() * sizeof(int64_t), hash);
  return hash;
}
uint64_t hash_of(const Tensor& ids, uint64_t hash) { return hash_bytes(ids.data_ptr(), ids.nbytes(), hash); }

// Of all that is drawn: held-out examples, two training batches, and what a resume compares.
uint64_t hash_of(const DrawnTask& task) {
  uint64_t hash = task.fingerprint();
  const auto sizes = sizes_of(task);
  for (const Split split : {Split::validation, Split::test})
    for (const int64_t size : sizes)
      for (uint64_t i = 0; i < 20; ++i) hash = hash_of(task.held_out_example(split, i, size), hash);
  const auto stream = task.open({.split = Split::train, .batch_size = 20, .length = sizes.back(), .seed = 9});
  for (int i = 0; i < 2; ++i) {
    const Batch batch = *stream->next();
    hash = hash_of(batch.targets, hash_of(batch.ids, hash));
  }
  return hash;
}

}  // namespace

// Resuming a run, or a study, compares what is drawn with what was.
TEST_CASE("generated tasks: examples stay the same to the bit from version to version", "[golden]") {
  const std::map<std::string_view, std::string_view> recorded{
      {"copy", "xxh3:e4867833b42e553c"},
      {"reverse", "xxh3:1a85f0cc844eb188"},
      {"sort", "xxh3:72897eab30d96042"},
      {"addition", "xxh3:14f0442cdc62f119"},
      {"parity", "xxh3:a53c27319a12249b"},
      {"modular_sum", "xxh3:f5599b5ba263d9c4"},
      {"majority", "xxh3:81bce79d01b7e6bf"},
      {"dyck", "xxh3:415a0de4ae276d7d"},
      {"associative_recall", "xxh3:67b202edd427339b"},
      {"needle", "xxh3:0dd97dc35b445c8a"},
      {"selective_copy", "xxh3:326ee7050f51606b"},
      {"counting", "xxh3:85d9ae86453dda30"},
      {"polynomial", "xxh3:38025e6e722a3c1e"},
      {"listops", "xxh3:f170e3a59d00fa69"},
      {"lag", "xxh3:9719e922a9bfc88a"},
      {"chase", "xxh3:43d163b87a1b7ac9"},
      {"up_down", "xxh3:57b2260b8fda2568"},
  };
  for (const auto& task : generated_tasks(/*causal=*/false)) {
    CAPTURE(task->kind());
    REQUIRE(recorded.contains(task->kind()));
    CHECK(hash_text(hash_of(*task)) == recorded.at(task->kind()));
  }
  const Copy set({.drawn = {.shortest = 3, .examples = 30, .held_out = 7}}, {.seed = 4, .causal = false});
  CHECK(hash_text(hash_of(set)) == "xxh3:cbb2df186b5d6799");
  const Copy uneven({.drawn = {.common = 4, .common_share = 0.9}}, {.seed = 4, .causal = false});
  CHECK(hash_text(hash_of(uneven)) == "xxh3:eac790e7a4361b0a");
}

}  // namespace ordo::test
