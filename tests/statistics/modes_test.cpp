// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/modes.h"

#include <cmath>
#include <vector>

#include "support/catch.h"

namespace ordo {

TEST_CASE("modes: runs that learned and runs that did not fall apart", "[unit]") {
  const std::vector<double> values{0.99, 1.0, 0.31, 0.98, 0.27};
  const TwoModes modes = two_modes(values);
  CHECK(modes.found);
  CHECK(modes.below == 0.31);
  CHECK(modes.above == 0.98);
}

TEST_CASE("modes: one run apart is a mode", "[unit]") {
  CHECK(two_modes(std::vector<double>{1.0, 1.0, 0.5}).found);
  CHECK(two_modes(std::vector<double>{0.1, 0.1, 0.1, 0.9}).found);
}

TEST_CASE("modes: a small gap is none, however little the rest is spread", "[unit]") {
  CHECK_FALSE(two_modes(std::vector<double>{1.0, 1.0, 0.85}).found);
  CHECK(two_modes(std::vector<double>{1.0, 1.0, 0.85}, 0.1).found);
}

TEST_CASE("modes: a gap is judged against the spread on either side", "[unit]") {
  CHECK_FALSE(two_modes(std::vector<double>{0.1, 0.3, 0.8, 0.9}).found);  // 0.5 against 0.2
  CHECK_FALSE(two_modes(std::vector<double>{0.1, 0.6, 0.75, 0.9}).found);
  CHECK(two_modes(std::vector<double>{0.1, 0.25, 0.75, 0.9}).found);  // 0.5 against 0.15
  CHECK_FALSE(two_modes(std::vector<double>{0.1, 0.3, 0.5, 0.7, 0.9}).found);
}

TEST_CASE("modes: two runs or equal ones have one mode", "[unit]") {
  CHECK_FALSE(two_modes({}).found);
  CHECK_FALSE(two_modes(std::vector<double>{0.1, 0.9}).found);
  CHECK_FALSE(two_modes(std::vector<double>{0.5, 0.5, 0.5}).found);
  CHECK_FALSE(two_modes(std::vector<double>{0.5, 0.5, 0.5}, 0.0).found);
}

TEST_CASE("modes: diverged runs are a mode of their own", "[unit]") {
  const TwoModes modes = two_modes(std::vector<double>{1.9, std::nan(""), 2.0});
  CHECK(modes.found);
  CHECK(std::isnan(modes.below));
  CHECK_FALSE(two_modes(std::vector<double>(3, std::nan(""))).found);
}

TEST_CASE("modes: solved runs are counted at the threshold, with their exact interval", "[unit]") {
  const std::vector<double> values{0.99, 0.95, 0.3, std::nan("")};
  const Solved accuracy = count_solved(values, 0.95, /*larger_is_better=*/true);
  CHECK(accuracy.solved == 2);
  CHECK(accuracy.runs == 4);
  CHECK(accuracy.interval.low == exact_interval(2, 4).low);
  CHECK(accuracy.interval.high == exact_interval(2, 4).high);
  CHECK(count_solved(values, 0.95, /*larger_is_better=*/false).solved == 2);  // 0.95 itself and 0.3
  const Solved nothing = count_solved({}, 0.5, true);
  CHECK(nothing.runs == 0);
  CHECK_FALSE(nothing.interval.exists());
}

}  // namespace ordo
