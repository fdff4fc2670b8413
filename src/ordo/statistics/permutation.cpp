// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/permutation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ordo/core/hash.h"
#include "ordo/statistics/inside.h"

namespace ordo {

namespace {

// What the flips of some differences add up to, all 2^n of them.
std::vector<double> flipped_sums(std::span<const double> differences) {
  std::vector<double> sums{0.0};
  for (const double difference : differences) {
    const size_t before = sums.size();
    for (size_t i = 0; i < before; ++i) {
      sums.push_back(sums[i] - difference);
      sums[i] += difference;
    }
  }
  return sums;
}

// The share of all 2^n flips whose |sum| reaches the bound. The first sign stays: the other half mirrors this one.
double share_of_all(std::span<const double> differences, double bound) {
  const auto rest = differences.subspan(1);
  const std::vector<double> left = flipped_sums(rest.first(rest.size() / 2));
  const std::vector<double> right = flipped_sums(rest.subspan(rest.size() / 2));
  int64_t reached = 0;
  for (const double a : left)
    for (const double b : right) reached += std::abs(differences.front() + a + b) >= bound;
  return static_cast<double>(reached) / static_cast<double>(left.size() * right.size());
}

double share_of_drawn(std::span<const double> differences, double bound) {
  KeyedSequence sequence(key_of(0, "sign flips"));
  constexpr size_t kBits = 64;
  int64_t reached = 0;
  for (int64_t draw = 0; draw < kDrawnFlips; ++draw) {
    double sum = 0.0;
    for (size_t begin = 0; begin < differences.size(); begin += kBits) {
      uint64_t signs = sequence.next();
      for (const double difference : differences.subspan(begin, std::min(kBits, differences.size() - begin))) {
        sum += (signs & 1) != 0 ? difference : -difference;
        signs >>= 1;
      }
    }
    reached += std::abs(sum) >= bound;
  }
  return static_cast<double>(1 + reached) / static_cast<double>(1 + kDrawnFlips);
}

}  // namespace

SignFlips sign_flip_test(std::span<const double> differences) {
  const auto n = static_cast<int64_t>(differences.size());
  SignFlips test{.p_smallest = smallest_sign_flip_p(n), .exact = n <= kExactFlips};
  if (differences.empty() || !all_finite(differences)) return test;
  double sum = 0.0, absolute = 0.0;
  for (const double difference : differences) {
    sum += difference;
    absolute += std::abs(difference);
  }
  const double bound = std::abs(sum) - kRounding * absolute;
  test.p = test.exact ? share_of_all(differences, bound) : share_of_drawn(differences, bound);
  return test;
}

double smallest_sign_flip_p(int64_t n) {
  if (n < 1) return 1.0;
  const double enumerated = std::exp2(1.0 - static_cast<double>(n));
  return n <= kExactFlips ? enumerated : std::max(enumerated, 1.0 / static_cast<double>(1 + kDrawnFlips));
}

int64_t repetitions_to_pass(int64_t comparisons, double alpha) {
  require_share(alpha, "alpha");
  const auto times = static_cast<double>(std::max<int64_t>(comparisons, 1));
  int64_t n = 1;
  while (times * std::exp2(1.0 - static_cast<double>(n)) >= alpha) ++n;
  return n;
}

}  // namespace ordo
