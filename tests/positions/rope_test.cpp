// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "ordo/positions/rope.h"
#include "positions/rotary.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

Rope rope(int64_t head_dim, const Rope::Config& config = {}) {
  return {config, {.heads = 1, .kv_heads = 1, .head_dim = head_dim, .layers = 1, .max_length = 8}};
}

// 10000^(-2m/r), worked out by hand.
Tensor turns_a_position(int64_t r) {
  if (r == 8) return at::tensor({1.0, 0.1, 0.01, 0.001}, at::kDouble);
  if (r == 6) return at::tensor({1.0, 0.046415888336127789, 0.0021544346900318837}, at::kDouble);
  REQUIRE(r == 2);
  return at::tensor({1.0}, at::kDouble);
}

// The formula of the paper for theta 10000, in plain operators under autograd. x [B, N, L, E], positions [L].
Tensor by_formula(const Tensor& x, const Tensor& positions, int64_t r, RotaryLayout layout) {
  const Tensor angles = positions.to(at::kDouble).unsqueeze(1) * turns_a_position(r);
  const Tensor c = angles.cos().to(x.scalar_type()), s = angles.sin().to(x.scalar_type());
  const bool half = layout == RotaryLayout::half;
  const Tensor a = half ? x.slice(3, 0, r / 2) : x.slice(3, 0, r, 2),
               b = half ? x.slice(3, r / 2, r) : x.slice(3, 1, r, 2);
  const Tensor first = a * c - b * s, second = b * c + a * s;
  const Tensor turned = half ? at::cat({first, second}, 3) : at::stack({first, second}, 4).flatten(3);
  return at::cat({turned, x.slice(3, r)}, 3);
}

}  // namespace

TEST_CASE("rope: a common shift leaves scores unchanged", "[unit]") {
  for (const RotaryLayout layout : {RotaryLayout::half, RotaryLayout::interleaved}) {
    Rope encoding = rope(8, {.layout = layout});
    const Tensor q = noise({1, 1, 6, 8}, 1), k = noise({1, 1, 6, 8}, 2);
    const auto scores = [&](int64_t start) {
      const Positions at = consecutive(start, 6, at::kCPU);
      return at::matmul(encoding.query(q, at, 0), encoding.key(k, at, 0).transpose(2, 3));
    };
    CHECK(close(scores(1000), scores(0), Tolerance::fp32_sum));
  }
}

TEST_CASE("rope: the layouts are one rotation under a permutation of channels", "[unit]") {
  Rope half = rope(8), interleaved = rope(8, {.layout = RotaryLayout::interleaved});
  const Tensor x = noise({2, 3, 5, 8}, 3);
  const Tensor order =
      at::tensor({0, 2, 4, 6, 1, 3, 5, 7}, at::kLong);  // half channel m is interleaved channel order[m]
  const Positions at = consecutive(7, 5, at::kCPU);
  const Tensor permuted = interleaved.query(x, at, 0).index_select(3, order);
  CHECK(close(half.query(x.index_select(3, order), at, 0), permuted, Tolerance::fp32));
}

TEST_CASE("rope: outputs and gradients follow the formula in both layouts, whole and partial", "[unit]") {
  for (const RotaryLayout layout : {RotaryLayout::half, RotaryLayout::interleaved})
    for (const int64_t r : {8, 6, 2}) {
      INFO("layout " << static_cast<int>(layout) << ", rotary width " << r);
      Rope encoding = rope(8, {.layout = layout, .rotary_dim = r});
      const Tensor x = noise({2, 3, 5, 8}, 4, at::kDouble).requires_grad_(), y = x.detach().clone().requires_grad_();
      const Tensor weight = noise({2, 3, 5, 8}, 5, at::kDouble);
      const Tensor got = encoding.query(x, consecutive(3, 5, at::kCPU), 0);
      const Tensor want = by_formula(y, at::arange(3, 8), r, layout);
      (got * weight).sum().backward();
      (want * weight).sum().backward();
      CHECK(close(got, want, Tolerance::fp64));
      CHECK(close(x.grad(), y.grad(), Tolerance::fp64));
    }
}

TEST_CASE("rope: a row of the batch may have positions of its own", "[unit]") {
  Rope encoding = rope(8);
  const Tensor x = noise({2, 2, 3, 8}, 6), index = at::tensor({5, 0, 9, 1, 2, 3}, at::kLong).view({2, 3});
  const Tensor got = encoding.query(x, {.index = index}, 0);
  for (int64_t b = 0; b < 2; ++b) {
    const Tensor want = by_formula(x.slice(0, b, b + 1), index[b], 8, RotaryLayout::half);
    CHECK(close(got.slice(0, b, b + 1), want, Tolerance::fp32));
  }
}

TEST_CASE("rope: negative and real-valued positions turn as the formula says", "[unit]") {
  Rope encoding = rope(8);
  const Tensor x = noise({1, 1, 2, 8}, 7);
  const Positions negative{.index = at::tensor({-3, 4}, at::kLong).unsqueeze(0)};
  CHECK(
      close(encoding.query(x, negative, 0), by_formula(x, negative.index[0], 8, RotaryLayout::half), Tolerance::fp32));
  const Tensor stamps = at::tensor({0.25, 17.5}, at::kDouble);
  const Positions real{.index = at::zeros({1, 2}, at::kLong), .coords = stamps.view({1, 2, 1})};
  CHECK(close(encoding.query(x, real, 0), by_formula(x, stamps, 8, RotaryLayout::half), Tolerance::fp32));
}

TEST_CASE("rope: angles stay exact at position 131071", "[unit]") {
  Rope encoding = rope(128);
  const Tensor one = at::cat({at::full({1, 1, 1, 64}, 1.0), at::zeros({1, 1, 1, 64})}, 3)
                         .to(at::kFloat);  // its turn shows cosines, then sines
  const Tensor got = encoding.query(one, consecutive(131071, 1, at::kCPU), 0).flatten();
  // Every sixteenth pair turns ten times slower. Cosines and sines of 131071, 13107.1, 1310.71 and 131.071.
  const Tensor cosines = at::tensor({-0.817983499388, 0.930342989844, -0.786383690257, 0.640312376312}, at::kFloat),
               sines = at::tensor({-0.575241683755, 0.366690497896, -0.617738368322, -0.768114614327}, at::kFloat);
  CHECK(close(got.slice(0, 0, 64, 16), cosines, Tolerance{1e-7, 0.0}));
  CHECK(close(got.slice(0, 64, 128, 16), sines, Tolerance{1e-7, 0.0}));
  for (int64_t m = 0; m < 64; ++m) {
    const double angle = 131071.0 / std::pow(10.0, static_cast<double>(m) / 16.0);
    CHECK(got[m].item<double>() == Approx(std::cos(angle)).margin(1e-7));
    CHECK(got[64 + m].item<double>() == Approx(std::sin(angle)).margin(1e-7));
  }
}

TEST_CASE("rope: a bf16 query is its fp32 turn rounded to nearest", "[unit]") {
  for (const RotaryLayout layout : {RotaryLayout::half, RotaryLayout::interleaved}) {
    Rope encoding = rope(8, {.layout = layout});
    const Tensor x = noise({2, 3, 50, 8}, 10, at::kBFloat16);
    const Positions at = consecutive(3, 50, at::kCPU);
    CHECK(same_bytes(encoding.query(x, at, 0), encoding.query(x.to(at::kFloat), at, 0).to(at::kBFloat16)));
  }
}

TEST_CASE("rope: heads that lie in memory as the projection left them keep that order", "[unit]") {
  Rope encoding = rope(8);
  const Tensor x = noise({2, 5, 3, 8}, 8).transpose(1, 2);  // [B, H, L, E] seen in [B, L, H, E] memory
  const Tensor got = encoding.query(x, consecutive(0, 5, at::kCPU), 0);
  CHECK(got.strides() == x.strides());
  CHECK(same_bytes(got, encoding.query(x.contiguous(), consecutive(0, 5, at::kCPU), 0)));
}

TEST_CASE("rope: channels past the rotary width come through untouched", "[unit]") {
  Rope encoding = rope(8, {.partial_rotary_factor = 0.5});
  const Tensor x = noise({1, 2, 3, 8}, 9), got = encoding.query(x, consecutive(4, 3, at::kCPU), 0);
  CHECK(same_bytes(got.slice(3, 4), x.slice(3, 4)));
  CHECK_FALSE(close(got.slice(3, 0, 4), x.slice(3, 0, 4), Tolerance::bf16));
}

TEST_CASE("rope: half and bf16 queries never see a rounded position", "[unit]") {
  Rope encoding = rope(8);  // bf16 holds no odd integer here, fp16 only every fourth
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    const Tensor x = noise({1, 2, 6, 8}, 11, type);
    const Positions at = consecutive(8195, 6, at::kCPU);
    CHECK(same_bytes(encoding.key(x, at, 0), encoding.key(x.to(at::kFloat), at, 0).to(type)));
  }
}

TEST_CASE("rope: values turn when asked to, by the angles of the keys, and are left alone otherwise", "[unit]") {
  Rope plain = rope(8), turning = rope(8, {.rotary_value = true});
  const Tensor v = noise({2, 2, 5, 8}, 12);
  const Positions at = consecutive(3, 5, at::kCPU);
  CHECK(same_bytes(plain.value(v, at, 0), v));
  CHECK(same_bytes(turning.value(v, at, 0), turning.key(v, at, 0)));
  CHECK(plain.traits().relative);
  CHECK_FALSE(turning.traits().relative);  // an output is turned by where its values stood
}

TEST_CASE("rope: is refused between two sequences, with what to use there", "[unit]") {
  PositionFacts facts = heads_of(8);
  facts.cross = true;
  for (const std::string kind : {"rope", "rope_2d", "mrope", "xpos"}) {
    INFO(kind);
    CHECK_THROWS_WITH(position_of(kind, facts),
                      Catch::Contains(kind + ": between two sequences") && Catch::Contains("time_rope"));
  }
  CHECK_NOTHROW(position_of("time_rope", facts));
}

TEST_CASE("rope: a width that cannot be rotated is refused with where it comes from", "[unit]") {
  CHECK_THROWS_WITH(rope(15), Catch::Contains("rope: rotary width 15 is odd (head_dim 15 x partial_rotary_factor 1)"));
  CHECK_THROWS_WITH(rope(16, {.rotary_dim = 7}), Catch::Contains("rotary width 7 is odd (rotary_dim 7)"));
  CHECK_THROWS_WITH(rope(16, {.rotary_dim = 18}), Catch::Contains("rotary_dim (18) is larger than head_dim (16)"));
  CHECK_THROWS_WITH(rope(16, {.partial_rotary_factor = 0.5, .rotary_dim = 4}), Catch::Contains("give one of them"));
  CHECK_THROWS_WITH(rope(16, {.partial_rotary_factor = 0.1}), Catch::Contains("no pair of channels"));
}

}  // namespace ordo::test
