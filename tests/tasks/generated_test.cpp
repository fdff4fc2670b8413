// SPDX-License-Identifier: Apache-2.0
// What holds for every task whose examples are drawn, by being listed.
#include "support/catch.h"

#include <algorithm>
#include <memory>
#include <set>

#include "ordo/ops/fused_loss.h"
#include "ordo/tasks/sequence_task.h"

namespace ordo::test {

namespace {

using Generated = std::shared_ptr<const SequenceTask>;

// All of them, with their default settings. The others read files, which they are not given here.
std::vector<Generated> generated_tasks() {
  std::vector<Generated> found;
  for (const auto& entry : tasks().entries()) {
    const auto config = entry.info.config();
    try {
      const auto task = std::dynamic_pointer_cast<const SequenceTask>(entry.build(config.get(), {.seed = 4}));
      if (task && task->draws_examples()) found.push_back(task);
    } catch (const ConfigError&) {
      continue;  // its files are missing
    }
  }
  return found;
}

std::vector<int64_t> sizes_of(const SequenceTask& task) {
  const int64_t least = task.least_size();
  return {least, least + 1, least + 3, least + 8, least + 20};
}

void check_symbols(const SequenceTask& task, const Example& e) {
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
          std::dynamic_pointer_cast<const SequenceTask>(entry.build(entry.info.config().get(), {.seed = 5}));
      const int64_t size = sizes_of(*task).back();
      const auto rows = [size](const SequenceTask& from, Split split) {
        std::vector<std::string> found;
        for (uint64_t i = 0; i < 20; ++i) found.push_back(from.text(from.held_out_example(split, i, size)));
        return found;
      };
      CHECK(rows(*task, Split::validation) != rows(*task, Split::test));
      CHECK(rows(*task, Split::test) != rows(*other, Split::test));
    }
}

}  // namespace ordo::test
