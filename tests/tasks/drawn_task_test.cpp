// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/drawn_task.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>

#include <map>
#include <set>

#include "ordo/config/config.h"
#include "ordo/ops/fused_loss.h"
#include "ordo/tasks/copy.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

Copy copy_task(DrawnConfig drawn = {}, uint64_t seed = 1) {
  return Copy({.drawn = drawn, .symbols = 4}, {.seed = seed});
}

Batch first_batch(const Task& task, const StreamOptions& options) { return *task.open(options)->next(); }

TEST_CASE("drawn tasks: common sizes are drawn as often as they are to be, others evenly", "[unit]") {
  const Copy task = copy_task({.shortest = 2, .common = 4, .common_share = 0.9});
  const StreamOptions options{.split = Split::train, .batch_size = 4000, .length = 8, .seed = 3};
  std::map<int64_t, double> share;
  const Tensor sizes = first_batch(task, options).targets.ne(kIgnore).sum(1);
  for (int64_t b = 0; b < 4000; ++b) share[sizes[b].item<int64_t>()] += 1.0 / 4000.0;
  CHECK(share.size() == 7);
  for (int64_t size = 2; size <= 8; ++size)  // five standard errors
    CHECK(share[size] == Approx(size <= 4 ? 0.3 : 0.025).margin(size <= 4 ? 0.036 : 0.0125));
}

TEST_CASE("drawn tasks: common sizes lie among those trained on, and have a share", "[unit]") {
  const auto refusal = [](const DrawnConfig& examples) {
    return copy_task(examples).refuses_length(Split::train, 8).value_or("");
  };
  CHECK_THAT(refusal({.common = 8, .common_share = 0.9}),
             Catch::Contains("common (8)") && Catch::Contains("train.length (8)"));
  CHECK_THAT(refusal({.shortest = 5, .common = 4, .common_share = 0.9}), Catch::Contains("at least 5"));
  CHECK_THROWS_WITH(copy_task({.common = 4}), Catch::Contains("task.common_share (0)"));
  CHECK_THROWS_WITH(copy_task({.common_share = 0.5}), Catch::Contains("task.common (0)"));
  CHECK(refusal({.common = 4, .common_share = 0.9}).empty());
  CHECK_FALSE(copy_task({.common = 8, .common_share = 0.9}).refuses_length(Split::test, 4));
}

TEST_CASE("drawn tasks: another way of drawing sizes is other data to a resume", "[unit]") {
  const auto fingerprint = [](const DrawnConfig& examples) { return copy_task(examples).fingerprint(); };
  const std::set<uint64_t> different{fingerprint({}), fingerprint({.common = 4, .common_share = 0.9}),
                                     fingerprint({.common = 4, .common_share = 0.8}),
                                     fingerprint({.common = 5, .common_share = 0.9}), fingerprint({.shortest = 3})};
  CHECK(different.size() == 5);
}

TEST_CASE("drawn tasks: examples follow from the seed, held-out ones not from the run's", "[unit]") {
  const auto ids = [](uint64_t task_seed, uint64_t run_seed, Split split) {
    return first_batch(
               copy_task({}, task_seed),
               {.split = split, .batch_size = 8, .length = 8, .seed = run_seed, .training = split == Split::train})
        .ids;
  };
  CHECK(at::equal(ids(1, 1, Split::test), ids(1, 2, Split::test)));
  CHECK_FALSE(at::equal(ids(1, 1, Split::test), ids(2, 1, Split::test)));
  CHECK_FALSE(at::equal(ids(1, 1, Split::test), ids(1, 1, Split::validation)));
  CHECK(at::equal(ids(1, 1, Split::train), ids(1, 1, Split::train)));
  CHECK_FALSE(at::equal(ids(1, 1, Split::train), ids(1, 2, Split::train)));
}

TEST_CASE("drawn tasks: sizes that do not exist are refused in words, in training sets too", "[unit]") {
  for (const int64_t examples : {0, 20}) {
    const Copy task = copy_task({.shortest = 5, .examples = examples});
    CHECK(thrown<ConfigError>([&] { task.open({.split = Split::train, .batch_size = 1, .length = 4}); }) ==
          "copy has no examples of length 4: with these settings 5 is the smallest");
    CHECK_FALSE(task.refuses_length(Split::test, 4));
  }
}

}  // namespace
}  // namespace ordo::test
