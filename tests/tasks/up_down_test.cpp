// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/up_down.h"

#include <algorithm>
#include <set>

#include "support/thrown.h"

namespace ordo::test {

namespace {

UpDown up_down(UpDown::Config config) { return UpDown(config, {.seed = 1, .causal = false}); }

// Where the ramps of a series without noise begin: at the first price that is not flat.
int64_t place_of(const Example& series) {
  const auto& prices = series.given;
  const int64_t flat = std::count(prices.begin(), prices.end(), prices.front()) > 2 ? prices.front() : prices.back();
  return std::find_if(prices.begin(), prices.end(), [&](int64_t price) { return price != flat; }) - prices.begin();
}

std::set<int64_t> places_of(const UpDown& task, Split split, int64_t size) {
  std::set<int64_t> places;
  for (uint64_t i = 0; i < 400; ++i)
    places.insert(
        place_of(split == Split::train ? task.training_example(7, i, size) : task.held_out_example(split, i, size)));
  return places;
}

}  // namespace

TEST_CASE("up-down: one ramp rises and the other falls, in a flat line", "[unit]") {
  const UpDown task = up_down({.levels = 9, .ramp = 8, .noise = 0, .places = {2, 2}});
  const int64_t up_down_label = 9, down_up_label = 10;
  const Example rises = task.held_out(1, 0, 12), falls = task.held_out(1, 1, 12);
  CHECK(rises.given == std::vector<int64_t>{4, 4, 0, 2, 5, 8, 8, 5, 2, 0, 4, 4});
  CHECK(rises.asked == std::vector<int64_t>{up_down_label});
  CHECK(falls.given == std::vector<int64_t>{4, 4, 8, 5, 2, 0, 0, 2, 5, 8, 4, 4});
  CHECK(falls.asked == std::vector<int64_t>{down_up_label});
  CHECK(task.text(falls) == "4 4 8 5 2 0 0 2 5 8 4 4 -> down_up");
}

TEST_CASE("up-down: twins have the same prices, noise and all, and differ in the ramps alone", "[unit]") {
  const UpDown task = up_down({.places = {0, 8}, .test_places = {20, 31}});
  REQUIRE(task.twins() == 2);
  for (const Split split : {Split::validation, Split::test})
    for (uint64_t pair = 0; pair < 100; ++pair) {
      Example one = task.held_out_example(split, 2 * pair, 48), other = task.held_out_example(split, 2 * pair + 1, 48);
      REQUIRE(one.asked != other.asked);
      REQUIRE(one.given != other.given);
      const auto range = split == Split::test ? std::pair{20, 47} : std::pair{0, 24};
      for (int i = 0; i < 48; ++i)
        if (i < range.first || i >= range.second)
          REQUIRE(one.given[static_cast<size_t>(i)] == other.given[static_cast<size_t>(i)]);
      std::sort(one.given.begin(), one.given.end());
      std::sort(other.given.begin(), other.given.end());
      REQUIRE(one.given == other.given);
      REQUIRE(one.given.front() >= 0);
      REQUIRE(one.given.back() < 24);
    }
}

TEST_CASE("up-down: ramps begin where places says, in the test where test_places says", "[unit]") {
  const UpDown shifted = up_down({.noise = 0, .places = {1, 4}, .test_places = {20, 21}});
  const std::set<int64_t> trained{1, 2, 3, 4};
  CHECK(places_of(shifted, Split::train, 48) == trained);
  CHECK(places_of(shifted, Split::validation, 48) == trained);
  CHECK(places_of(shifted, Split::test, 48) == std::set<int64_t>{20, 21});
  const UpDown anywhere = up_down({.noise = 0});
  CHECK(places_of(anywhere, Split::train, 20) == std::set<int64_t>{0, 1, 2, 3, 4});
  CHECK(places_of(anywhere, Split::test, 20) == std::set<int64_t>{0, 1, 2, 3, 4});
}

TEST_CASE("up-down: both orders are equally frequent in training", "[unit]") {
  const UpDown task = up_down({});
  int64_t rises = 0;
  for (uint64_t i = 0; i < 4000; ++i) rises += task.training_example(7, i, 48).asked[0] == 24 ? 1 : 0;
  CHECK(std::abs(rises - 2000) < 130);  // four standard deviations
}

TEST_CASE("up-down: settings that do not fit are refused with what would", "[unit]") {
  const auto refused = [](UpDown::Config config) {
    return thrown<ConfigError>([&] { up_down(config).held_out_example(Split::test, 0, 40); });
  };
  CHECK(contains(refused({.ramp = 15}), "must be even"));
  CHECK(contains(refused({.levels = 8, .noise = 4}), "at most 3"));
  CHECK(contains(refused({.places = {3}}), "[first, last]"));
  CHECK(contains(refused({.test_places = {5, 4}}), "task.test_places"));
  CHECK(contains(refused({.test_places = {20, 25}}), "at 24, or make the series at least 41 long"));
  CHECK(up_down({.places = {0, 8}}).least_size() == 24);
}

}  // namespace ordo::test
