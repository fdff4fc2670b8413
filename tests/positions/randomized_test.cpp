// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/diff.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "ordo/positions/randomized.h"
#include "support/positions.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {
std::shared_ptr<Randomized> randomized(const Randomized::Config& config, int64_t max_length = 16) {
  return std::make_shared<Randomized>(config, PositionFacts{.dim = 4, .max_length = max_length});
}
std::shared_ptr<Randomized> evaluated(const Randomized::Config& config, int64_t max_length = 16) {
  auto encoding = randomized(config, max_length);
  encoding->eval();
  return encoding;
}
Tensor index_of(std::vector<int64_t> values) { return at::tensor(values, at::kLong).unsqueeze(0); }
}  // namespace

TEST_CASE("randomized: training positions ascend within the range, without a repeat", "[unit]") {
  const auto encoding = randomized({.max_position = 40});
  for (int64_t step = 0; step < 50; ++step) {
    const Tensor index = encoding->place(consecutive(0, 16, at::kCPU), 2, {.seed = 1, .step = step}).index;
    CHECK(index.sizes().vec() == std::vector<int64_t>{1, 16});
    CHECK((at::diff(index) > 0).all().item<bool>());
    CHECK(index.min().item<int64_t>() >= 0);
    CHECK(index.max().item<int64_t>() < 40);
  }
}

TEST_CASE("randomized: every position of the range is drawn equally often", "[unit]") {
  const auto encoding = randomized({.max_position = 20}, 5);
  std::vector<Tensor> drawn;
  constexpr int64_t kSteps = 4000;
  for (int64_t step = 0; step < kSteps; ++step)
    drawn.push_back(encoding->place(consecutive(0, 5, at::kCPU), 1, {.seed = 3, .step = step}).index.view(-1));
  const Tensor often = at::bincount(at::cat(drawn), {}, 20).to(at::kDouble) / kSteps;  // 5 of 20: a quarter each
  CHECK((often - 0.25).abs().max().item<double>() < 0.03);  // more than four standard deviations
}

TEST_CASE("randomized: the same micro-batch draws the same, the next one another", "[unit]") {
  const auto encoding = randomized({.max_position = 64});
  const auto drawn = [&](const Draw& draw) { return encoding->place(consecutive(0, 16, at::kCPU), 1, draw).index; };
  CHECK(same_bytes(drawn({.seed = 1, .step = 2}), drawn({.seed = 1, .step = 2})));
  CHECK_FALSE(same_bytes(drawn({.seed = 1, .step = 2}), drawn({.seed = 1, .step = 3})));
}

TEST_CASE("randomized: one draw a batch, or with per_row one a row", "[unit]") {
  const Tensor index = at::arange(16).expand({3, 16}).contiguous();
  const Tensor shared = randomized({.max_position = 64})->place({.index = index}, 3, {}).index;
  CHECK(same_bytes(shared[0], shared[2]));
  const Tensor own = randomized({.max_position = 64, .per_row = true})->place({.index = index}, 3, {}).index;
  CHECK_FALSE(same_bytes(own[0], own[1]));
  CHECK_FALSE(same_bytes(own[1], own[2]));
  const Tensor from_one_row =
      randomized({.max_position = 64, .per_row = true})->place(consecutive(0, 16, at::kCPU), 3, {}).index;
  CHECK(same_bytes(from_one_row, own));
}

TEST_CASE("randomized: padded and packed rows get, at position p, the p-th of the draw", "[unit]") {
  const auto encoding = randomized({.max_position = 64});
  const Tensor drawn = encoding->place(consecutive(0, 6, at::kCPU), 1, {}).index;
  const Tensor padded = index_of({0, 0, 0, 1, 2, 5}), packed = index_of({0, 1, 2, 0, 5, 1});
  for (const Tensor& index : {padded, packed})
    CHECK(
        same_bytes(encoding->place({.index = index}, 1, {}).index.view(-1), drawn.view(-1).index_select(0, index[0])));
}

TEST_CASE("randomized: evaluation spreads positions by a fixed stride, so that a prefix keeps its own", "[unit]") {
  const auto encoding = evaluated({.max_position = 70});  // 70 / 16: a stride of 4
  CHECK(same_bytes(encoding->place(consecutive(0, 16, at::kCPU), 1, {}).index, at::arange(16).unsqueeze(0) * 4));
  CHECK(same_bytes(encoding->place(consecutive(3, 2, at::kCPU), 1, {.step = 9}).index, index_of({12, 16})));
  const auto longer = evaluated({.max_position = 70, .evaluation_length = 35});
  CHECK(same_bytes(longer->place(consecutive(0, 3, at::kCPU), 1, {}).index, index_of({0, 2, 4})));
  CHECK(encoding->traits().relative);
}

TEST_CASE("randomized: a range no longer than the model leaves positions as they are", "[unit]") {
  const Positions at = consecutive(2, 5, at::kCPU);
  const Positions placed = evaluated({.max_position = 16})->place(at, 1, {});
  CHECK(same_bytes(placed.index, at.index));
  CHECK(placed.start == at.start);
}

TEST_CASE("randomized: evaluation by a draw uses the same one always, a prefix keeping its positions", "[unit]") {
  const Randomized::Config config{.max_position = 64, .evaluation = Randomized::Evaluation::drawn};
  const Tensor whole = evaluated(config)->place(consecutive(0, 16, at::kCPU), 1, {.seed = 1, .step = 1}).index;
  CHECK((at::diff(whole) > 0).all().item<bool>());
  CHECK_FALSE((at::diff(whole) == at::diff(whole)[0][0]).all().item<bool>());
  CHECK(same_bytes(evaluated(config)->place(consecutive(4, 3, at::kCPU), 2, {.seed = 8, .step = 5}).index,
                   whole.slice(1, 4, 7).contiguous()));
  CHECK(same_bytes(evaluated(config)->place({.index = index_of({0, 0, 9})}, 1, {}).index,
                   whole.index_select(1, at::tensor({0, 0, 9}, at::kLong))));
}

TEST_CASE("randomized: sequences that do not fit are refused with the numbers", "[unit]") {
  const auto even = randomized({.max_position = 70});  // 0, 4, … 68
  CHECK_FALSE(even->refuses_length(18));
  CHECK_THAT(even->refuses_length(19).value_or(""), Catch::Contains("19 tokens") && Catch::Contains("18") &&
                                                        Catch::Contains("4 positions") &&
                                                        Catch::Contains("max_position (70)"));
  const auto drawn = randomized({.max_position = 70, .evaluation = Randomized::Evaluation::drawn});
  CHECK_FALSE(drawn->refuses_length(16));
  CHECK_THAT(drawn->refuses_length(17).value_or(""), Catch::Contains("17 tokens") && Catch::Contains("16 positions"));
}

TEST_CASE("randomized: a position past what fits is an error, never another position", "[unit]") {
  CHECK_THROWS_AS(evaluated({.max_position = 70})->place(consecutive(17, 2, at::kCPU), 1, {}), ConfigError);
  CHECK_THROWS_AS(randomized({.max_position = 20})->place({.index = index_of({0, 20})}, 1, {}), ConfigError);
  CHECK_NOTHROW(randomized({.max_position = 20})->place({.index = index_of({0, 19})}, 1, {}));
}

TEST_CASE("randomized: settings that cannot work are refused with both numbers", "[unit]") {
  CHECK_THROWS_WITH(randomized({.max_position = 15}),
                    Catch::StartsWith("randomized: max_position (15)") && Catch::Contains("max_length (16)"));
  CHECK_THROWS_WITH(randomized({.max_position = 32, .evaluation_length = 33}),
                    Catch::Contains("evaluation_length (33)") && Catch::Contains("max_position (32)"));
  CHECK_THROWS_WITH(randomized({}, 0), Catch::Contains("no max_length"));
  CHECK_NOTHROW(randomized({}));
}

TEST_CASE("randomized: real-valued positions are refused in words", "[unit]") {
  const Positions at{.index = at::zeros({1, 2}, at::kLong), .coords = at::zeros({1, 2, 1})};
  CHECK_THROWS_WITH(randomized({})->place(at, 1, {}), Catch::StartsWith("randomized: ") && Catch::Contains("real"));
}

}  // namespace ordo::test
