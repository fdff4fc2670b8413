// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/diff.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "ordo/positions/shape.h"
#include "support/positions.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {
std::shared_ptr<ShiftedPositions> shape_of(int64_t max_shift) {
  return std::make_shared<ShiftedPositions>(ShiftedPositions::Config{max_shift}, small_facts());
}
}  // namespace

TEST_CASE("shape: in training each row moves by one number, from 0 to max_shift equally often", "[unit]") {
  const auto encoding = shape_of(3);
  std::vector<Tensor> shifts;
  for (int64_t step = 0; step < 1000; ++step) {
    const Tensor index = encoding->place(consecutive(0, 5, at::kCPU), 4, {.seed = 2, .step = step}).index;
    REQUIRE((at::diff(index) == 1).all().item<bool>());
    shifts.push_back(index.select(1, 0));
  }
  const Tensor often = at::bincount(at::cat(shifts)).to(at::kDouble) / 4000.0;
  REQUIRE(often.size(0) == 4);
  CHECK((often - 0.25).abs().max().item<double>() < 0.03);  // more than four standard deviations
}

TEST_CASE("shape: rows move apart, and the same micro-batch moves alike", "[unit]") {
  const auto encoding = shape_of(1000);
  const Tensor index = encoding->place(consecutive(0, 2, at::kCPU), 3, {.seed = 2}).index;
  CHECK_FALSE(index[0][0].equal(index[1][0]));
  CHECK_FALSE(index[1][0].equal(index[2][0]));
  CHECK(same_bytes(index, encoding->place(consecutive(0, 2, at::kCPU), 3, {.seed = 2}).index));
  CHECK_FALSE(same_bytes(index, encoding->place(consecutive(0, 2, at::kCPU), 3, {.seed = 3}).index));
}

TEST_CASE("shape: padded and packed rows keep their distances", "[unit]") {
  const Tensor index = at::tensor({0, 0, 1, 2, 0, 1}, at::kLong).view({2, 3});
  const Tensor moved = shape_of(50)->place({.index = index}, 2, {.seed = 1}).index, by = moved - index;
  CHECK(same_bytes(by, by.select(1, 0).unsqueeze(1) * at::ones_like(by)));
}

TEST_CASE("shape: in evaluation nothing moves", "[unit]") {
  const auto encoding = shape_of(50);
  encoding->eval();
  const Positions at = consecutive(4, 3, at::kCPU), placed = encoding->place(at, 2, {.seed = 1});
  CHECK(same_bytes(placed.index, at.index));
  CHECK(placed.start == at.start);
}

TEST_CASE("shape: real-valued positions are refused in words", "[unit]") {
  const Positions at{.index = at::zeros({1, 2}, at::kLong), .coords = at::zeros({1, 2, 1})};
  CHECK_THROWS_WITH(shape_of(5)->place(at, 1, {}), Catch::StartsWith("shape: ") && Catch::Contains("real-valued"));
}

}  // namespace ordo::test
