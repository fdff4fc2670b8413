// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/attention/cache.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>

#include "support/positions.h"
#include "support/tolerance.h"

using ordo::consecutive;
using ordo::KVCache;
using ordo::Mask;
using ordo::Positions;
using ordo::Tensor;
using ordo::test::noise;
using ordo::test::same_bytes;

namespace {
const Mask kNoMask{};

std::shared_ptr<KVCache> full_cache() { return ordo::caches().build("full", {.layers = 1}); }

Tensor keys(int64_t rows, int64_t columns, uint64_t key) { return noise({rows, 2, columns, 4}, key); }
Tensor index(std::vector<int64_t> row) { return at::tensor(row, at::kLong).unsqueeze(0); }

// Two rows of bools.
Tensor flags(const std::vector<int64_t>& values, int64_t columns) {
  return at::tensor(values, at::kLong).view({2, columns}).to(at::kBool);
}

// Appends `columns` consecutive tokens to every row.
KVCache::Held append(KVCache& cache, int64_t rows, int64_t columns, uint64_t key) {
  Mask mask;
  mask.causal = true;
  cache.advance(consecutive(cache.size(), columns, at::kCPU), mask);
  return cache.append(0, keys(rows, columns, key), keys(rows, columns, key + 100),
                      noise({rows, columns, 3}, key + 200));
}
}  // namespace

TEST_CASE("full cache: gives back all columns in order of arrival, also after growing", "[unit]") {
  const auto cache = full_cache();
  std::vector<Tensor> k, v, kept;
  for (const int64_t columns : {3, 1, 100, 1, 300}) {
    const uint64_t key = static_cast<uint64_t>(columns) + k.size();
    const auto held = append(*cache, 2, columns, key);
    k.push_back(keys(2, columns, key)), v.push_back(keys(2, columns, key + 100)),
        kept.push_back(noise({2, columns, 3}, key + 200));
    CHECK(same_bytes(held.k, at::cat(k, 2)));
    CHECK(same_bytes(held.v, at::cat(v, 2)));
    CHECK(same_bytes(held.kept, at::cat(kept, 1)));
  }
  CHECK(cache->size() == 405);
}

TEST_CASE("full cache: fresh queries stand behind what was held, and positions stay consecutive while they are",
          "[unit]") {
  const auto cache = full_cache();
  CHECK(append(*cache, 2, 3, 1).mask.offset == 0);
  const auto second = append(*cache, 2, 2, 2);
  CHECK(second.mask.offset == 3);
  CHECK(second.mask.causal);
  CHECK(second.at.start == 0);
  CHECK(same_bytes(second.at.index, index({0, 1, 2, 3, 4})));
  cache->advance(consecutive(9, 1, at::kCPU), kNoMask);
  const auto third = cache->append(0, keys(2, 1, 3), keys(2, 1, 4), noise({2, 1, 3}, 5));
  CHECK_FALSE(third.at.start.has_value());
  CHECK(same_bytes(third.at.index, index({0, 1, 2, 3, 4, 9})));
}

TEST_CASE("full cache: padding is remembered, and calls without it count as all real", "[unit]") {
  const auto cache = full_cache();
  Mask padded;
  padded.keys = flags({0, 1, 1, 1}, 2);
  cache->advance({.index = at::tensor({0, 0, 0, 1}, at::kLong).view({2, 2})}, padded);
  cache->append(0, keys(2, 2, 1), keys(2, 2, 2), {});
  cache->advance({.index = at::tensor({1, 2}, at::kLong).view({2, 1})}, kNoMask);
  const auto held = cache->append(0, keys(2, 1, 3), keys(2, 1, 4), {});
  CHECK(same_bytes(held.mask.keys, flags({0, 1, 1, 1, 1, 1}, 3)));
}

TEST_CASE("full cache: padding that begins later leaves the earlier columns real", "[unit]") {
  const auto cache = full_cache();
  append(*cache, 2, 2, 1);
  Mask padded;
  padded.keys = flags({1, 0}, 1);
  cache->advance(consecutive(2, 1, at::kCPU), padded);
  const auto held = cache->append(0, keys(2, 1, 3), keys(2, 1, 4), noise({2, 1, 3}, 5));
  CHECK(same_bytes(held.mask.keys, flags({1, 1, 1, 1, 1, 0}, 3)));
}

TEST_CASE("full cache: rows can be chosen, repeated and dropped", "[unit]") {
  const auto cache = full_cache();
  append(*cache, 3, 5, 1);
  cache->keep_rows(at::tensor({2, 2, 0, 1}, at::kLong));
  const auto held = append(*cache, 4, 1, 2);
  const Tensor before = keys(3, 5, 1);
  for (const auto& [row, source] : std::vector<std::pair<int64_t, int64_t>>{{0, 2}, {1, 2}, {2, 0}, {3, 1}})
    CHECK(same_bytes(held.k[row].slice(1, 0, 5), before[source]));
  CHECK(same_bytes(held.k.slice(2, 5), keys(4, 1, 2)));
}

TEST_CASE("full cache: a truncated cache goes on as if the rest had never been", "[unit]") {
  const auto cut = full_cache(), plain = full_cache();
  append(*cut, 2, 7, 1);
  cut->truncate(3);
  CHECK(cut->size() == 3);
  plain->advance(consecutive(0, 3, at::kCPU), kNoMask);
  plain->append(0, keys(2, 7, 1).slice(2, 0, 3), keys(2, 7, 101).slice(2, 0, 3), noise({2, 7, 3}, 201).slice(1, 0, 3));
  const auto a = append(*cut, 2, 2, 9), b = append(*plain, 2, 2, 9);
  CHECK(same_bytes(a.k, b.k));
  CHECK(same_bytes(a.kept, b.kept));
  CHECK(same_bytes(a.at.index, b.at.index));
  CHECK(a.at.start == b.at.start);
  CHECK(a.mask.offset == b.mask.offset);
  CHECK_THROWS_AS(cut->truncate(6), ordo::Error);
  cut->truncate(0);
  CHECK(append(*cut, 2, 1, 4).k.size(2) == 1);
}

TEST_CASE("full cache: emptied, it takes another number of rows and another type; before that both are refused",
          "[unit]") {
  const auto cache = full_cache();
  append(*cache, 2, 3, 1);
  CHECK_THROWS_WITH(append(*cache, 5, 1, 2), Catch::Contains("2 rows") && Catch::Contains("5 rows"));
  cache->truncate(0);
  CHECK(same_bytes(append(*cache, 5, 4, 3).k, keys(5, 4, 3)));
  cache->truncate(0);
  cache->advance(consecutive(0, 2, at::kCPU), kNoMask);
  CHECK(cache->append(0, keys(1, 2, 1).to(at::kDouble), keys(1, 2, 2).to(at::kDouble), {}).k.scalar_type() ==
        at::kDouble);
}

TEST_CASE("fixed cache: segments follow the rows", "[unit]") {
  const auto cache = ordo::caches().build("fixed", {.layers = 1});
  Mask mask;
  mask.q_segment = mask.k_segment = at::tensor({1, 1, 1, 2}, at::kLong).view({2, 2});
  cache->advance(consecutive(0, 2, at::kCPU), mask);
  cache->append(0, keys(2, 2, 1), keys(2, 2, 2), {});
  cache->keep_rows(at::tensor({1}, at::kLong));
  CHECK(same_bytes(cache->held(0)->mask.k_segment, index({1, 2})));
}

TEST_CASE("fixed cache: is written once, read by every step, and follows the rows", "[unit]") {
  const auto cache = ordo::caches().build("fixed", {.layers = 2});
  CHECK_FALSE(cache->held(0).has_value());
  Mask mask;
  mask.keys = flags({1, 1, 1, 0}, 2);
  cache->advance(consecutive(0, 2, at::kCPU), mask);
  cache->append(0, keys(2, 2, 1), keys(2, 2, 2), {});
  REQUIRE(cache->held(0).has_value());
  CHECK_FALSE(cache->held(1).has_value());
  cache->keep_rows(at::tensor({1, 1, 0}, at::kLong));
  CHECK(same_bytes(cache->held(0)->k, keys(2, 2, 1).index_select(0, at::tensor({1, 1, 0}, at::kLong))));
  CHECK(cache->held(0)->mask.keys.size(0) == 3);
  CHECK(cache->size() == 2);
  CHECK_THROWS_AS(cache->advance(consecutive(0, 2, at::kCPU), mask), ordo::Error);
  CHECK_THROWS_AS(cache->truncate(1), ordo::Error);
}
