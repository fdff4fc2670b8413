// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/ops/sequence.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <limits>
#include <vector>

#include "ordo/core/hash.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

Tensor whole_numbers(std::vector<int64_t> values) { return at::tensor(values, at::kLong); }

// A mask and the lengths it is for, drawn from a key.
struct MaskCase {
  Mask mask;
  int64_t B, Lq, Lk;
};

MaskCase draw_mask(uint64_t key, bool positional) {
  KeyedSequence draw(key);
  MaskCase c{.mask = {}, .B = 1 + static_cast<int64_t>(draw.below(3)), .Lq = 1 + static_cast<int64_t>(draw.below(12))};
  c.mask.causal = draw.below(2) == 0;
  if (draw.below(2) == 0) c.mask.window = 1 + static_cast<int64_t>(draw.below(8));
  if (draw.below(12) == 0) c.mask.window = std::numeric_limits<int64_t>::max();
  if (draw.below(3) == 0) c.mask.prefix = static_cast<int64_t>(draw.below(8));
  if (draw.below(2) == 0) c.mask.offset = static_cast<int64_t>(draw.below(10));
  c.Lk = 1 + static_cast<int64_t>(draw.below(14)) + c.mask.offset;
  if (positional) return c;
  const auto bits = [&](int64_t L, uint64_t values) {
    Tensor t = at::zeros({c.B, L}, at::kLong);
    for (int64_t i = 0; i < t.numel(); ++i) t.mutable_data_ptr<int64_t>()[i] = static_cast<int64_t>(draw.below(values));
    return t;
  };
  if (draw.below(2) == 0) c.mask.keys = bits(c.Lk, 2).to(at::kBool);
  if (draw.below(2) == 0) {
    c.mask.q_segment = bits(c.Lq, 3);
    c.mask.k_segment = bits(c.Lk, 3);
  }
  return c;
}

// The definition, said as directly as it can be.
bool sees(const Mask& mask, int64_t row, int64_t q, int64_t k) {
  const int64_t own = q + mask.offset;
  bool seen = !mask.causal || k <= own;
  if (mask.window) seen = seen && own - k < *mask.window && (mask.causal || k - own < *mask.window);
  seen = seen || k < mask.prefix;
  if (mask.keys.defined()) seen = seen && mask.keys[row][k].item<bool>();
  if (mask.q_segment.defined())
    seen = seen && mask.q_segment[row][q].item<int64_t>() == mask.k_segment[row][k].item<int64_t>();
  return seen;
}

Tensor dense(const MaskCase& c, const Tile& t) {
  const int64_t rows = c.mask.positional() ? 1 : c.B;
  Tensor out = at::zeros({rows, 1, t.rows(), t.columns()}, at::kBool);
  bool* at = out.mutable_data_ptr<bool>();
  for (int64_t b = 0; b < rows; ++b)
    for (int64_t q = t.q0; q < t.q1; ++q)
      for (int64_t k = t.k0; k < t.k1; ++k) *at++ = sees(c.mask, b, q, k);
  return out;
}

Tile draw_tile(KeyedSequence& draw, const MaskCase& c) {
  const auto q0 = static_cast<int64_t>(draw.below(static_cast<uint64_t>(c.Lq))),
             k0 = static_cast<int64_t>(draw.below(static_cast<uint64_t>(c.Lk)));
  return {q0, q0 + 1 + static_cast<int64_t>(draw.below(static_cast<uint64_t>(c.Lq - q0))), k0,
          k0 + 1 + static_cast<int64_t>(draw.below(static_cast<uint64_t>(c.Lk - k0)))};
}

constexpr uint64_t kCases = 400;

}  // namespace

TEST_CASE("mask: a tile is the dense definition's rectangle", "[unit]") {
  for (uint64_t key = 0; key < kCases; ++key) {
    const MaskCase c = draw_mask(key, /*positional=*/false);
    KeyedSequence draw(mix(key, 1));
    const Tile t = draw_tile(draw, c);
    const Tensor seen = c.mask.tile(t, at::kCPU);
    INFO("case " << key);
    REQUIRE(same_bytes(seen.expand(dense(c, t).sizes()).contiguous(), dense(c, t)));
  }
}

TEST_CASE("mask: without padding and segments, hides and shows are exact", "[unit]") {
  for (uint64_t key = 0; key < kCases; ++key) {
    const MaskCase c = draw_mask(key, /*positional=*/true);
    KeyedSequence draw(mix(key, 2));
    for (int i = 0; i < 4; ++i) {
      const Tile t = draw_tile(draw, c);
      const Tensor seen = dense(c, t);
      INFO("case " << key << ", rows " << t.q0 << ".." << t.q1 << ", columns " << t.k0 << ".." << t.k1);
      REQUIRE(c.mask.hides(t) == !seen.any().item<bool>());
      REQUIRE(c.mask.shows(t) == seen.all().item<bool>());
    }
  }
}

TEST_CASE("mask: with padding or segments, hides and shows never claim too much", "[unit]") {
  for (uint64_t key = 0; key < kCases; ++key) {
    const MaskCase c = draw_mask(key, /*positional=*/false);
    KeyedSequence draw(mix(key, 3));
    const Tile t = draw_tile(draw, c);
    const Tensor seen = dense(c, t);
    INFO("case " << key);
    if (c.mask.hides(t)) REQUIRE_FALSE(seen.any().item<bool>());
    if (c.mask.shows(t)) REQUIRE(seen.all().item<bool>());
  }
}

TEST_CASE("mask: visible is the tightest range around the columns that a strip sees", "[unit]") {
  for (uint64_t key = 0; key < kCases; ++key) {
    const MaskCase c = draw_mask(key, /*positional=*/true);
    KeyedSequence draw(mix(key, 4));
    Tile t = draw_tile(draw, c);
    t.k0 = 0;
    t.k1 = c.Lk;
    const Tensor columns = dense(c, t).any(2).view({-1}).nonzero().view({-1});
    const auto [k0, k1] = c.mask.visible(t.q0, t.q1, c.Lk);
    INFO("case " << key << ", rows " << t.q0 << ".." << t.q1 << " of " << c.Lq << ", " << c.Lk << " columns");
    if (columns.numel() == 0) {
      REQUIRE(k0 == k1);
    } else {
      REQUIRE(k0 == columns.min().item<int64_t>());
      REQUIRE(k1 == columns.max().item<int64_t>() + 1);
    }
  }
}

TEST_CASE("mask: an empty tile hides and shows all", "[unit]") {
  const Mask mask{.causal = true};
  CHECK(mask.hides({3, 3, 0, 5}));
  CHECK(mask.shows({0, 5, 2, 2}));
  CHECK(mask.visible(4, 4, 9) == std::pair<int64_t, int64_t>{0, 0});
}

TEST_CASE("mask: the narrower window holds", "[unit]") {
  const Mask open{.causal = true}, narrow{.causal = true, .window = 4};
  CHECK(open.with_window(8).window == 8);
  CHECK(narrow.with_window(8).window == 4);
  CHECK(narrow.with_window(2).window == 2);
  CHECK(narrow.with_window(std::nullopt).window == 4);
}

TEST_CASE("positions: consecutive ones know their start, and a slice keeps it", "[unit]") {
  const Positions at = consecutive(5, 6, at::kCPU);
  CHECK(at.length() == 6);
  CHECK(at.start == 5);
  CHECK(same_bytes(at.slice(2, 4).index, whole_numbers({7, 8}).unsqueeze(0)));
  CHECK(at.slice(2, 4).start == 7);
}

TEST_CASE("positions: a slice takes coordinates along", "[unit]") {
  const Positions at{.index = at::arange(4).unsqueeze(0), .coords = at::arange(8.0).view({1, 4, 2})};
  CHECK(same_bytes(at.slice(1, 3).coords, at.coords.slice(1, 1, 3).contiguous()));
  CHECK_FALSE(at.slice(1, 3).start.has_value());
}

TEST_CASE("positions: padding on either side counts for nothing", "[unit]") {
  const Tensor keys = at::tensor({0, 0, 1, 1, 1, /**/ 1, 1, 1, 0, 0}, at::kLong).view({2, 5}).to(at::kBool);
  CHECK(same_bytes(from_padding(keys).index, whole_numbers({0, 0, 0, 1, 2, 0, 1, 2, 0, 0}).view({2, 5})));
}

TEST_CASE("positions: every packed document starts at 0", "[unit]") {
  const Tensor segments = whole_numbers({0, 0, 1, 1, 1, 7, /**/ 4, 3, 3, 4, 4, 4}).view({2, 6});
  CHECK(same_bytes(from_segments(segments).index, whole_numbers({0, 1, 0, 1, 2, 0, 0, 0, 1, 0, 1, 2}).view({2, 6})));
  CHECK(from_segments(at::zeros({2, 0}, at::kLong)).index.numel() == 0);
}

TEST_CASE("sizes: a wrong rank is refused in the caller's words", "[unit]") {
  CHECK_THROWS_WITH(sizes<3>(at::zeros({2, 3}), "x [B, L, D]"),
                    Catch::Contains("x [B, L, D]") && Catch::Contains("2 dimensions"));
  const auto [B, L] = sizes<2>(at::zeros({2, 3}), "x [B, L]");
  CHECK((B == 2 && L == 3));
}

TEST_CASE("repeat_groups: neighbouring query heads share a key head", "[unit]") {
  const Tensor k = at::randn({2, 2, 3, 4}), repeated = repeat_groups(k, 6);
  for (int64_t head = 0; head < 6; ++head) CHECK(at::equal(repeated.select(1, head), k.select(1, head / 3)));
  CHECK_THROWS_AS(repeat_groups(k, 5), Error);
}

TEST_CASE("accumulate_type: narrow types widen to fp32, fp64 stays", "[unit]") {
  CHECK(accumulate_type(at::kBFloat16) == at::kFloat);
  CHECK(accumulate_type(at::kHalf) == at::kFloat);
  CHECK(accumulate_type(at::kFloat) == at::kFloat);
  CHECK(accumulate_type(at::kDouble) == at::kDouble);
}

}  // namespace ordo::test
