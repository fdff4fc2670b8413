// SPDX-License-Identifier: Apache-2.0
#include "ordo/core/hash.h"

#include <cmath>
#include <set>
#include <vector>

#include "ordo/core/errors.h"
#include "support/catch.h"

namespace ordo {

TEST_CASE("hash: XXH3's published values", "[unit]") {
  CHECK(hash_bytes("", 0) == 0x2d06800538d394c2ULL);
  CHECK(hash_bytes("abc", 3) == 0x78af5f94892f3950ULL);
  CHECK(hash_bytes("abc", 3, 1) != hash_bytes("abc", 3));
  CHECK(hash_text(0xabcULL) == "xxh3:0000000000000abc");
}

TEST_CASE("hash: mix is splitmix64, so that runs are the same everywhere", "[unit]") {
  CHECK(mix(0, 0) == 0xe220a8397b1dcdafULL);  // the first three numbers of splitmix64 from 0
  CHECK(mix(0, 1) == 0x6e789e6aa1b965f4ULL);
  CHECK(mix(0, 2) == 0x06c45d188009454fULL);
}

TEST_CASE("hash: keys differ by seed and by name, and never change", "[unit]") {
  CHECK(key_of(1, "decoder.blocks.0.attention.q.weight") != key_of(2, "decoder.blocks.0.attention.q.weight"));
  CHECK(key_of(1, "a") != key_of(1, "b"));
  CHECK(key_of(7, "abc") == mix(7, 0x78af5f94892f3950ULL));
}

TEST_CASE("hash: numbers below a limit are all reached, about equally often", "[unit]") {
  KeyedSequence sequence(3);
  std::vector<int> seen(7, 0);
  constexpr int kDraws = 7000;
  for (int i = 0; i < kDraws; ++i) ++seen[sequence.below(7)];
  for (const int count : seen) CHECK(std::abs(count - kDraws / 7) < 150);  // 5 standard deviations
  CHECK(sequence.below(1) == 0);
  CHECK_THROWS_AS(sequence.below(0), Error);
}

TEST_CASE("hash: draws that would favour small results are drawn again", "[unit]") {
  constexpr uint64_t kLimit = (uint64_t{1} << 63) + 1, kUneven = (uint64_t{1} << 63) - 1;  // 2^64 mod the limit
  KeyedSequence sequence(4), plain(4);
  for (int i = 0; i < 50; ++i) {
    uint64_t draw = plain.next();
    while (draw < kUneven) draw = plain.next();
    CHECK(sequence.below(kLimit) == draw % kLimit);
  }
}

TEST_CASE("hash: a sequence depends on its key alone", "[unit]") {
  KeyedSequence a(5), b(5), c(6);
  const uint64_t first = a.next();
  CHECK(first == b.next());
  CHECK(first != c.next());
  CHECK(first == mix(5, 0));
}

TEST_CASE("hash: unit numbers fill [0, 1)", "[unit]") {
  KeyedSequence sequence(11);
  double sum = 0, least = 1, most = 0;
  for (int i = 0; i < 10000; ++i) {
    const double u = sequence.unit();
    sum += u, least = std::min(least, u), most = std::max(most, u);
  }
  CHECK(least >= 0.0);
  CHECK(most < 1.0);
  CHECK(std::abs(sum / 10000 - 0.5) < 0.02);
}

TEST_CASE("permutation: each index comes once, at any size", "[unit]") {
  for (const uint64_t n : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{4}, uint64_t{5}, uint64_t{10}, uint64_t{16},
                           uint64_t{17}, uint64_t{1000}, (uint64_t{1} << 16) + 1}) {
    const KeyedPermutation permutation(42, n);
    std::vector<bool> seen(n, false);
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t to = permutation(i);
      REQUIRE(to < n);
      REQUIRE_FALSE(seen[to]);
      seen[to] = true;
    }
  }
}

TEST_CASE("permutation: other keys give other orders, and few indices stay", "[unit]") {
  constexpr uint64_t n = 1000;
  const KeyedPermutation a(1, n), b(2, n);
  int stay = 0, same = 0;
  for (uint64_t i = 0; i < n; ++i) {
    stay += a(i) == i;
    same += a(i) == b(i);
  }
  CHECK(stay < 10);
  CHECK(same < 10);
}

TEST_CASE("permutation: all orders of three come about equally often", "[unit]") {
  std::vector<int> seen(27, 0);
  constexpr int kKeys = 6000;
  for (uint64_t key = 0; key < kKeys; ++key) {
    const KeyedPermutation p(mix(9, key), 3);
    ++seen[p(0) * 9 + p(1) * 3 + p(2)];
  }
  int orders = 0;
  for (const int count : seen) {
    if (count == 0) continue;
    ++orders;
    CHECK(std::abs(count - kKeys / 6) < 200);
  }
  CHECK(orders == 6);
}

TEST_CASE("permutation: works at the size of a large corpus, one index at a time", "[unit]") {
  const KeyedPermutation permutation(1, uint64_t{1} << 40);
  std::set<uint64_t> seen;
  for (uint64_t i = 0; i < 1000; ++i) seen.insert(permutation(i));
  CHECK(seen.size() == 1000);
  CHECK(*seen.rbegin() < (uint64_t{1} << 40));
}

}  // namespace ordo
