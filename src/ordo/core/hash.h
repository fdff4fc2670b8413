// SPDX-License-Identifier: Apache-2.0
// Checksums (XXH3), and the keys from which every random draw of a run is made.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ordo {

uint64_t hash_bytes(const void* data, size_t size, uint64_t seed = 0);  // XXH3, 64 bits
std::string hash_text(uint64_t hash);                                   // "xxh3:0123456789abcdef"

// A well-mixed number from two (one round of splitmix64 on a + b·golden): chains give keys of (seed, step, micro,
// site).
uint64_t mix(uint64_t a, uint64_t b);
// The key of a named thing under a seed: weights are drawn from key_of(seed, parameter name).
uint64_t key_of(uint64_t seed, std::string_view name);

// A counter-based sequence: the i-th number is a pure function of (key, i). For shuffles and generated data; not for
// tensors.
class KeyedSequence {
 public:
  explicit KeyedSequence(uint64_t key) : key_(key) {}
  uint64_t next() { return mix(key_, counter_++); }
  uint64_t below(uint64_t limit);  // uniform in [0, limit), without modulo bias; limit > 0
  double unit();                   // uniform in [0, 1), 53 bits

 private:
  uint64_t key_, counter_ = 0;
};

// A permutation of [0, n) as a pure function of its key, computed one index at a time in O(1) memory (a Feistel network
// with cycle walking).
class KeyedPermutation {
 public:
  KeyedPermutation(uint64_t key, uint64_t n);
  uint64_t operator()(uint64_t i) const;  // i < n
  uint64_t size() const { return n_; }

 private:
  uint64_t key_, n_;
  unsigned half_bits_;
};

}  // namespace ordo
