// SPDX-License-Identifier: Apache-2.0
#include "ordo/core/hash.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>

#include "ordo/core/errors.h"

namespace ordo {

namespace {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15ULL;  // 2^64 / golden ratio, the increment of splitmix64
constexpr uint64_t kFeistelRounds = 6;

}  // namespace

uint64_t hash_bytes(const void* data, size_t size, uint64_t seed) { return XXH3_64bits_withSeed(data, size, seed); }

std::string hash_text(uint64_t hash) { return fmt::format("xxh3:{:016x}", hash); }

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t z = a + (b + 1) * kGolden;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

uint64_t key_of(uint64_t seed, std::string_view name) { return mix(seed, hash_bytes(name.data(), name.size())); }

uint64_t KeyedSequence::below(uint64_t limit) {
  ORDO_ASSERT(limit > 0);
  const uint64_t uneven = (0 - limit) % limit;  // the 2^64 mod limit smallest draws would favour small results
  uint64_t draw = next();
  while (draw < uneven) draw = next();
  return draw % limit;
}

double KeyedSequence::unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

KeyedPermutation::KeyedPermutation(uint64_t key, uint64_t n)
    : key_(key), n_(n), half_bits_(n < 2 ? 1 : std::max(1U, (static_cast<unsigned>(std::bit_width(n - 1)) + 1) / 2)) {}

uint64_t KeyedPermutation::operator()(uint64_t i) const {
  ORDO_ASSERT(i < n_);
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  do {
    uint64_t left = i >> half_bits_, right = i & mask;
    for (uint64_t round = 0; round < kFeistelRounds; ++round) {
      const uint64_t turned = left ^ (mix(mix(key_, round), right) & mask);
      left = right;
      right = turned;
    }
    i = (left << half_bits_) | right;
  } while (i >= n_);
  return i;
}

}  // namespace ordo
