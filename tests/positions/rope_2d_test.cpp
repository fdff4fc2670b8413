// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <numbers>

#include "ordo/positions/rope_2d.h"
#include "positions/rotary.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

constexpr Tolerance kGridExact{1e-12, 1e-12};

// Cosines of the four pairs of heads of eight channels, fp64 [L, 4].
Tensor grid_cosines(PositionEncoding& encoding, const Positions& at) {
  return turn_of(encoding, at, 8, at::kDouble)[0].slice(1, 0, 4);
}

// Tokens of one row at given rows and columns.
Positions at_places(const std::vector<double>& rows, const std::vector<double>& columns) {
  const auto options = at::TensorOptions(at::kDouble);
  return {.index = at::arange(static_cast<int64_t>(rows.size())).unsqueeze(0),
          .coords = at::stack({at::tensor(rows, options), at::tensor(columns, options)}, -1).unsqueeze(0)};
}

}  // namespace

TEST_CASE("rope_2d: pixtral turns by the row at even frequencies, by the column at odd ones", "[unit]") {
  const auto encoding = position_of("{kind: rope_2d}", heads_of(8));  // 1, 0.1, 0.01, 0.001 radians
  const Tensor got = grid_cosines(*encoding, at_places({3.0}, {5.0}));
  const Tensor want = at::tensor({3.0 * 1.0, 3.0 * 0.01, 5.0 * 0.1, 5.0 * 0.001}, at::kDouble).cos();
  CHECK(close(got[0], want, kGridExact));
}

TEST_CASE("rope_2d: dinov3 turns by patch centres between -1 and 1", "[unit]") {
  const auto encoding = position_of("{kind: rope_2d, variant: dinov3, height: 2, width: 4}", heads_of(8));
  // rows of 2: -0.5, 0.5; columns of 4: -0.75 … 0.75; both axes at 1 and 100^(-1/2) = 0.1 turns
  const Tensor got = grid_cosines(*encoding, at_places({1.0}, {0.0}));
  const Tensor want = (at::tensor({0.5, 0.05, -0.75, -0.075}, at::kDouble) * (2.0 * std::numbers::pi)).cos();
  CHECK(close(got[0], want, kGridExact));
}

TEST_CASE("rope_2d: without coordinates the index runs through the grid row by row", "[unit]") {
  for (const std::string variant : {"pixtral", "dinov3"}) {
    const auto encoding = position_of("{kind: rope_2d, variant: " + variant + ", width: 3}", heads_of(8));
    const Tensor read = grid_cosines(*encoding, consecutive(0, 7, at::kCPU));
    const Tensor placed = grid_cosines(*encoding, at_places({0, 0, 0, 1, 1, 1, 2}, {0, 1, 2, 0, 1, 2, 0}));
    CHECK(close(read, placed, kGridExact));
  }
}

TEST_CASE("rope_2d: prefix tokens are not turned, and the grid begins after them", "[unit]") {
  const auto encoding = position_of("{kind: rope_2d, variant: dinov3, width: 3, prefix_tokens: 2}", heads_of(8));
  const auto plain = position_of("{kind: rope_2d, variant: dinov3, width: 3}", heads_of(8));
  const Tensor x = noise({1, 2, 8, 8}, 1), got = encoding->query(x, consecutive(0, 8, at::kCPU), 0);
  CHECK(same_bytes(got.slice(2, 0, 2), x.slice(2, 0, 2)));
  CHECK(same_bytes(got.slice(2, 2), plain->query(x.slice(2, 2), consecutive(0, 6, at::kCPU), 0)));
  Positions placed = at_places({9, 9, 0, 0, 0, 1, 1, 1}, {9, 9, 0, 1, 2, 0, 1, 2});  // whatever prefix tokens bring
  CHECK(close(encoding->query(x, placed, 0), got, Tolerance::fp32));
}

TEST_CASE("rope_2d: a step along a row or a column counts, wherever it is made", "[unit]") {
  const auto encoding = position_of("rope_2d", heads_of(8));
  const Tensor q = noise({1, 1, 2, 8}, 2), k = noise({1, 1, 2, 8}, 3);
  const Tensor here = turned_scores(*encoding, q, k, at_places({0, 2}, {0, 3}));
  CHECK(close(turned_scores(*encoding, q, k, at_places({40, 42}, {11, 14})), here, Tolerance::fp32_sum));
  CHECK_FALSE(close(turned_scores(*encoding, q, k, at_places({0, 3}, {0, 2})), here, Tolerance::bf16));
}

TEST_CASE("rope_2d: coordinates of another number of axes are refused", "[unit]") {
  const auto encoding = position_of("rope_2d", heads_of(8));
  const Positions one{.index = at::zeros({1, 1}, at::kLong), .coords = at::zeros({1, 1, 1})};
  CHECK_THROWS_WITH(encoding->query(noise({1, 1, 1, 8}, 1), one, 0),
                    Catch::Contains("two coordinates") && Catch::Contains("found 1"));
}

TEST_CASE("rope_2d: training moves all tokens of a micro-batch by one shift and stretch", "[unit]") {
  const auto encoding = position_of(
      "{kind: rope_2d, variant: dinov3, height: 4, width: 8, shift: 0.5, jitter: 2, rescale: 3}", heads_of(8));
  CHECK(encoding->traits().places.positions);
  const Positions at = at_places({0, 3, 1, 2}, {0, 7, 2, 5});
  const Positions moved = encoding->place(at, 1, {.seed = 1, .step = 5});
  const Tensor sides = at::tensor({4.0, 8.0}, at::kDouble);
  const auto scaled = [&](const Tensor& coords) { return 2.0 * (coords[0] + 0.5) / sides - 1.0; };
  const Tensor from = scaled(at.coords), to = scaled(moved.coords);  // [4, 2]
  const Tensor stretch = (to[1] - to[0]) / (from[1] - from[0]), shift = to[0] / stretch - from[0];
  CHECK(close(to, (from + shift) * stretch, kGridExact));
  CHECK(shift.abs().max().item<double>() <= 0.5);
  CHECK(stretch.log().abs().max().item<double>() <= std::log(6.0));
  CHECK_FALSE(close(stretch[0], stretch[1], Tolerance::bf16));  // each axis has a jitter of its own
  CHECK_FALSE(close(shift[0], shift[1], Tolerance::bf16));
}

TEST_CASE("rope_2d: each setting moves positions in its own way only", "[unit]") {
  const Positions at = at_places({0, 3}, {0, 7});
  const auto moved = [&](const std::string& setting) {
    const auto encoding = position_of("{kind: rope_2d, " + setting + "}", heads_of(8));
    return encoding->place(at, 1, {.seed = 2, .step = 3}).coords[0];
  };
  const Tensor shifted = moved("shift: 2") - at.coords[0];
  CHECK(close(shifted[0], shifted[1], kGridExact));
  CHECK(shifted.abs().max().item<double>() > 0.01);
  const Tensor stretched = moved("jitter: 2")[1] / at.coords[0][1], resized = moved("rescale: 2")[1] / at.coords[0][1];
  CHECK_FALSE(close(stretched[0], stretched[1], Tolerance::bf16));
  CHECK(close(resized[0], resized[1], kGridExact));
  CHECK(std::abs(std::log(resized[0].item<double>())) > 0.01);
}

TEST_CASE("rope_2d: moves are a function of the micro-batch, and none are made in evaluation", "[unit]") {
  const auto encoding = position_of("{kind: rope_2d, shift: 1, width: 4}", heads_of(8));
  const Positions at = consecutive(0, 6, at::kCPU);
  const auto moved = [&](const Draw& draw) { return encoding->place(at, 1, draw).coords; };
  CHECK(same_bytes(moved({.seed = 1, .step = 2}), moved({.seed = 1, .step = 2})));
  CHECK_FALSE(moved({.seed = 1, .step = 2}).equal(moved({.seed = 1, .step = 3})));
  CHECK_FALSE(moved({.seed = 1, .step = 2}).equal(moved({.seed = 1, .step = 2, .micro = 1})));
  CHECK_FALSE(moved({.seed = 1, .step = 2}).equal(moved({.seed = 2, .step = 2})));
  encoding->eval();
  CHECK_FALSE(moved({.seed = 1, .step = 2}).defined());
  CHECK_FALSE(position_of("rope_2d", heads_of(8))->place(at, 1, {}).coords.defined());
}

TEST_CASE("rope_2d: tells its frequencies, of rows and then of columns", "[unit]") {
  CHECK(close(position_of("{kind: rope_2d, theta: 16}", heads_of(8))->frequencies(1),
              at::tensor({1.0, 0.25, 0.5, 0.125}, at::kDouble), kGridExact));
  CHECK(close(position_of("{kind: rope_2d, variant: dinov3, height: 2, width: 4}", heads_of(8))->frequencies(1),
              at::tensor({1.0, 0.1, 0.5, 0.05}, at::kDouble) * (2.0 * std::numbers::pi), kGridExact));
}

}  // namespace ordo::test
