// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/ops/draw.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <set>
#include <vector>

#include "support/devices.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

Tensor kept(int64_t count, double p, uint64_t key) {
  return ordo::dropout(at::ones({count}), p, key).ne(0.0).to(at::kDouble);
}

// How many standard deviations a sum of independent bits with mean m lies from its expectation.
double deviations(double sum, double count, double m) {
  return std::abs(sum - count * m) / std::sqrt(count * m * (1.0 - m));
}

constexpr double kFarOff = 4.5;  // with fixed keys a bound, not a gamble

// The fate of element i by the formula, one number at a time: independent of the loops.
bool dropped_by_formula(uint64_t key, uint64_t i, double p) {
  const uint64_t mixed = mix(key, i >> 32);
  uint32_t h = (static_cast<uint32_t>(i) * 0x9E3779B9U) ^ static_cast<uint32_t>(mixed);
  h = (h ^ (h >> 16)) * 0x21F0AAADU;
  h ^= static_cast<uint32_t>(mixed >> 32);
  h = (h ^ (h >> 15)) * 0x735A2D97U;
  h ^= h >> 15;
  return h < static_cast<uint32_t>(p * 0x1p32);
}

}  // namespace

TEST_CASE("dropout: what is kept is scaled by 1 / (1 - p), the rest is zero", "[unit]") {
  const Tensor x = at::linspace(1.0, 2.0, 1000), y = ordo::dropout(x, 0.2, 7);
  const Tensor alive = y.ne(0.0);
  CHECK(close(y.masked_select(alive), x.masked_select(alive) / 0.8, Tolerance::fp32));
  CHECK((alive.sum().item<int64_t>() > 700 && alive.sum().item<int64_t>() < 900));
}

TEST_CASE("dropout: nothing is dropped at 0 and everything at 1", "[unit]") {
  const Tensor x = at::ones({4, 5});
  CHECK(ordo::dropout(x, 0.0, 3).is_same(x));
  CHECK(same_bytes(ordo::dropout(x, 1.0, 3), at::zeros({4, 5})));
  CHECK_THROWS_AS(ordo::dropout(x, 1.5, 3), Error);
  CHECK_THROWS_AS(ordo::dropout(x, -0.1, 3), Error);
}

TEST_CASE("dropout: the fate of an element is a function of key and index", "[unit]") {
  const double p = 0.3;
  const Tensor mask = dropout_mask({70000}, p, 99, at::kFloat);
  const float* values = mask.const_data_ptr<float>();
  int64_t wrong = 0;
  for (int64_t i = 0; i < mask.numel(); ++i)
    wrong += (values[i] == 0.0F) != dropped_by_formula(99, static_cast<uint64_t>(i), p);
  CHECK(wrong == 0);
}

TEST_CASE("dropout: every type meets the same fates", "[unit]") {
  const Tensor x = at::linspace(1.0, 2.0, 5000), fates = ordo::dropout(x, 0.25, 5).ne(0.0);
  for (const auto type : {at::kDouble, at::kBFloat16, at::kHalf}) {
    const Tensor y = ordo::dropout(x.to(type), 0.25, 5);
    CHECK(y.scalar_type() == type);
    CHECK(same_bytes(y.ne(0.0), fates));
  }
  CHECK_THROWS_AS(ordo::dropout(x.to(at::kLong), 0.25, 5), Error);
}

TEST_CASE("dropout: strides do not matter, the row-major index does", "[unit]") {
  const Tensor x = at::linspace(1.0, 2.0, 12).view({3, 4});
  CHECK(same_bytes(ordo::dropout(x.t(), 0.5, 11), ordo::dropout(x.t().contiguous(), 0.5, 11)));
}

TEST_CASE("dropout: one thread or two make no difference", "[unit]") {
  const Tensor x = at::linspace(1.0, 2.0, 1 << 18);
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const Tensor one = ordo::dropout(x, 0.1, 3);
  at::set_num_threads(2);
  const Tensor two = ordo::dropout(x, 0.1, 3);
  at::set_num_threads(before);
  CHECK(same_bytes(one, two));
}

TEST_CASE("dropout: the gradient passes where the value did", "[unit]") {
  const Tensor x = at::linspace(1.0, 2.0, 600).view({20, 30}).requires_grad_(true);
  const Tensor weights = at::linspace(-1.0, 1.0, 600).view({20, 30});
  (ordo::dropout(x, 0.4, 8) * weights).sum().backward();
  CHECK(close(x.grad(), weights * dropout_mask({20, 30}, 0.4, 8, at::kFloat), Tolerance::fp32));
}

TEST_CASE("dropout: a tile of a mask is cut from the whole mask", "[unit]") {
  const std::vector<int64_t> shape{2, 3, 7, 9};
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    const Tensor whole = dropout_mask(shape, 0.4, 21, type);
    const Tensor part = dropout_mask_tile(shape, {2, 6, 3, 8}, 0.4, 21, type);
    CHECK(same_bytes(part, whole.slice(2, 2, 6).slice(3, 3, 8)));
  }
  CHECK(dropout_mask_tile(shape, {2, 2, 0, 9}, 0.4, 21, at::kFloat).numel() == 0);
}

TEST_CASE("dropout: indices past 2^32 have fates of their own", "[unit]") {
  const int64_t columns = (int64_t{1} << 31) + 5;  // rows 1 and 2 straddle 2^32
  const std::vector<int64_t> shape{1, 1, 4, columns};
  for (int64_t row = 0; row < 4; ++row) {
    const Tile tile{row, row + 1, columns - 300, columns};
    const Tensor part = dropout_mask_tile(shape, tile, 0.5, 13, at::kFloat);
    int64_t wrong = 0;
    for (int64_t i = 0; i < 300; ++i) {
      const auto index = static_cast<uint64_t>(row * columns + tile.k0 + i);
      wrong += (part.const_data_ptr<float>()[i] == 0.0F) != dropped_by_formula(13, index, 0.5);
    }
    CHECK(wrong == 0);
  }
  const Tensor low = dropout_mask_tile({1, 1, 1, columns * 4}, {0, 1, 0, 4096}, 0.5, 13, at::kFloat);
  const Tensor high = dropout_mask_tile({1, 1, 1, columns * 4}, {0, 1, int64_t{1} << 32, (int64_t{1} << 32) + 4096},
                                        0.5, 13, at::kFloat);
  CHECK(deviations(low.eq(high).sum().item<double>(), 4096, 0.5) < kFarOff);
}

TEST_CASE("dropout: as many are dropped as p says", "[unit]") {
  const int64_t count = 1 << 20;
  for (const double p : {0.01, 0.1, 0.5, 0.9})
    for (uint64_t key = 0; key < 4; ++key)
      CHECK(deviations(kept(count, p, key).sum().item<double>(), static_cast<double>(count), 1.0 - p) < kFarOff);
}

TEST_CASE("dropout: the counts of short rows vary as independent draws do", "[unit]") {
  const Tensor counts = kept(1 << 20, 0.3, 17).view({-1, 256}).sum(1);
  const double expected = 256 * 0.3 * 0.7, rows = 4096;
  CHECK(std::abs(counts.var().item<double>() / expected - 1.0) < kFarOff * std::sqrt(2.0 / rows));
}

TEST_CASE("dropout: neighbouring elements are independent", "[unit]") {
  const Tensor bits = kept(1 << 20, 0.5, 23);
  for (const int64_t lag : {1, 2, 3, 4, 8, 16, 64, 128, 256, 512, 1024, 65536}) {
    const Tensor a = bits.slice(0, lag), b = bits.slice(0, 0, bits.size(0) - lag);
    INFO("lag " << lag);
    CHECK(deviations(a.eq(b).sum().item<double>(), static_cast<double>(a.numel()), 0.5) < kFarOff);
  }
}

TEST_CASE("dropout: neighbouring keys are independent", "[unit]") {
  const int64_t count = 1 << 18;
  for (const uint64_t key : {uint64_t{1}, uint64_t{1} << 20, uint64_t{1} << 32, uint64_t{1} << 63})
    for (const uint64_t other : {key + 1, key ^ (uint64_t{1} << 31), key ^ (uint64_t{1} << 62)})
      CHECK(deviations(kept(count, 0.5, key).eq(kept(count, 0.5, other)).sum().item<double>(),
                       static_cast<double>(count), 0.5) < kFarOff);
}

TEST_CASE("draw: steps, micro-batches and sites have keys of their own", "[unit]") {
  std::set<uint64_t> keys;
  for (int64_t step = 0; step < 10; ++step)
    for (int64_t micro = 0; micro < 10; ++micro)
      for (uint64_t site = 0; site < 10; ++site) keys.insert(Draw{.seed = 1, .step = step, .micro = micro}.key(site));
  CHECK(keys.size() == 1000);
}

TEST_CASE("draw_normal: one key, one tensor, whatever the type", "[unit]") {
  const Tensor a = at::empty({64, 64}), b = at::empty({64, 64}), low = at::empty({64, 64}, at::kBFloat16),
               across = at::empty({64, 64}).t();
  draw_normal(a, 0.02, 42);
  draw_normal(b, 0.02, 42);
  draw_normal(low, 0.02, 42);
  draw_normal(across, 0.02, 42);
  CHECK(same_bytes(a, b));
  CHECK(same_bytes(low, a.to(at::kBFloat16)));
  CHECK(same_bytes(across.contiguous(), a));
}

TEST_CASE("draw_normal: has the mean and deviation it was asked for", "[unit]") {
  const Tensor t = at::empty({1 << 18});
  draw_normal(t, 0.5, 9);
  CHECK(std::abs(t.mean().item<double>()) < kFarOff * 0.5 / 512);
  CHECK(std::abs(t.std().item<double>() - 0.5) < kFarOff * 0.5 / 724);
}

TEST_CASE("standard_normal: a new tensor of what draw_normal draws", "[unit]") {
  const Tensor filled = at::empty({8, 5});
  draw_normal(filled, 1.0, 42);
  CHECK(same_bytes(standard_normal({8, 5}, 42), filled));
  CHECK(same_bytes(standard_normal({8, 5}, 42, at::kDouble), filled.to(at::kDouble)));
}

TEST_CASE("draw_normal: a parameter may be filled although it wants gradients", "[unit]") {
  const Tensor parameter = at::zeros({8}).requires_grad_(true);
  draw_normal(parameter, 1.0, 1);
  CHECK(parameter.is_leaf());
  CHECK(parameter.ne(0.0).any().item<bool>());
}

TEST_CASE("dropout: fates on the GPU are those of the CPU", "[gpu]") {
  const auto gpu = require_gpu();
  if (!gpu) return;
  const Tensor x = at::linspace(1.0, 2.0, 100000).view({100, 1000});
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf}) {
    const Tensor host = x.to(type);
    CHECK(same_bytes(ordo::dropout(host.to(*gpu), 0.3, 4).cpu(), ordo::dropout(host, 0.3, 4)));
  }
  const std::vector<int64_t> large{1, 1, 4, (int64_t{1} << 31) + 5};
  const Tile tile{1, 3, large[3] - 300, large[3]};
  CHECK(same_bytes(dropout_mask_tile(large, tile, 0.5, 13, at::TensorOptions(at::kFloat).device(*gpu)).cpu(),
                   dropout_mask_tile(large, tile, 0.5, 13, at::kFloat)));
}

TEST_CASE("draw_uniform: stays in its range and fills it", "[unit]") {
  const Tensor t = at::empty({1 << 16});
  draw_uniform(t, -1.0, 3.0, 9);
  CHECK((t.min().item<double>() >= -1.0 && t.max().item<double>() < 3.0));
  CHECK(std::abs(t.mean().item<double>() - 1.0) < kFarOff * 4.0 / std::sqrt(12.0) / 256);
}

}  // namespace ordo::test
