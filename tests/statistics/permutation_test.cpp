// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/permutation.h"

#include <cmath>
#include <vector>

#include "ordo/core/errors.h"
#include "statistics/stored.h"

namespace ordo::test {

TEST_CASE("permutation: the smallest p of 3, 4, 5 and 6 seeds", "[unit]") {
  CHECK(smallest_sign_flip_p(3) == 0.25);
  CHECK(smallest_sign_flip_p(4) == 0.125);
  CHECK(smallest_sign_flip_p(5) == 0.0625);
  CHECK(smallest_sign_flip_p(6) == 0.03125);
  CHECK(smallest_sign_flip_p(0) == 1.0);
  CHECK(smallest_sign_flip_p(1000) == 1.0 / (1 + kDrawnFlips));
}

TEST_CASE("permutation: all differences of one sign reach the smallest p", "[unit]") {
  for (size_t n = 1; n <= 30; ++n) {
    const SignFlips test = sign_flip_test(std::vector<double>(n, 0.1));
    CHECK(test.exact == (n <= 20));
    if (test.exact) CHECK(test.p == test.p_smallest);
    if (!test.exact) CHECK(test.p < 2e-5);
    CHECK(test.p >= test.p_smallest);
  }
}

TEST_CASE("permutation: seeds that it takes to pass 0.05 after Holm", "[unit]") {
  CHECK(repetitions_to_pass(1) == 6);
  CHECK(repetitions_to_pass(5) == 8);
  CHECK(repetitions_to_pass(15) == 10);
  CHECK(repetitions_to_pass(0) == 6);
  CHECK(repetitions_to_pass(1, 0.25) == 4);  // below it, not at it
  CHECK_THROWS_AS(repetitions_to_pass(1, 0.0), Error);
}

TEST_CASE("permutation: without differences, or with one that is no number, nothing is shown", "[unit]") {
  CHECK(sign_flip_test({}).p == 1.0);
  CHECK(sign_flip_test(std::vector<double>{0.0, 0.0, 0.0}).p == 1.0);
  CHECK(sign_flip_test(std::vector<double>{0.1, std::nan(""), 0.1}).p == 1.0);
  CHECK(sign_flip_test(std::vector<double>{0.7}).p == 1.0);
}

TEST_CASE("permutation: sums that differ by rounding alone are equal", "[unit]") {
  // |±0.1 ± 0.2 ± 0.3| >= 0: every flip reaches what 0.1 + 0.2 - 0.3 gives, which is 5e-17 in doubles.
  CHECK(sign_flip_test(std::vector<double>{0.1, 0.2, -0.3}).p == 1.0);
  CHECK(sign_flip_test(std::vector<double>{0.1, 0.2, 0.3}).p == 0.25);
}

TEST_CASE("permutation: above 20 differences a fixed draw comes near the exact p", "[golden]") {
  const Json many = stored("paired", "many");
  const SignFlips test = sign_flip_test(numbers(many.at("differences")));
  const double p = many.at("p");
  CHECK_FALSE(test.exact);
  CHECK(test.p == Approx(p).margin(4.0 * std::sqrt(p * (1.0 - p) / kDrawnFlips)));
  CHECK(test.p == sign_flip_test(numbers(many.at("differences"))).p);
}

}  // namespace ordo::test
