// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/mixture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "ordo/core/errors.h"
#include "ordo/core/hash.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

std::vector<MixedPart> parts_of(const std::vector<int64_t>& counts, const std::vector<double>& weights) {
  std::vector<MixedPart> parts;
  for (size_t i = 0; i < counts.size(); ++i)
    parts.push_back({.name = "part " + std::to_string(i), .weight = weights[i], .count = counts[i]});
  return parts;
}

std::vector<int64_t> quotas(const std::vector<int64_t>& counts, const std::vector<double>& weights) {
  const Mixture mixture(parts_of(counts, weights), 1);
  std::vector<int64_t> found;
  for (size_t i = 0; i < counts.size(); ++i) found.push_back(mixture.quota(i));
  return found;
}

}  // namespace

TEST_CASE("mixture: quotas follow the weights, whatever they sum to and however large the parts are", "[unit]") {
  CHECK(quotas({10, 990}, {0.7, 0.3}) == std::vector<int64_t>{700, 300});
  CHECK(quotas({500, 500}, {14, 6}) == std::vector<int64_t>{700, 300});
  CHECK(quotas({1, 1, 1}, {1, 1, 1}) == std::vector<int64_t>{1, 1, 1});
  CHECK(quotas({5, 5}, {2, 1}) == std::vector<int64_t>{7, 3});           // 6.67 and 3.33
  CHECK(quotas({4, 3, 3}, {1, 1, 1}) == std::vector<int64_t>{4, 3, 3});  // the row left over goes to the first
  constexpr double kMost = std::numeric_limits<double>::max();
  CHECK(quotas({50, 50}, {kMost, kMost}) == std::vector<int64_t>{50, 50});
}

TEST_CASE("mixture: a part whose share rounds to nothing has one row of the largest", "[unit]") {
  CHECK(quotas({50, 30, 20}, {1e-9, 1, 1e-300}) == std::vector<int64_t>{1, 98, 1});
  CHECK(quotas({1, 1}, {1e9, 1}) == std::vector<int64_t>{1, 1});
}

TEST_CASE("mixture: each epoch, and each stretch of it, has the parts in their proportions", "[unit]") {
  const std::vector<double> weights{5, 3, 1.5, 0.4, 0.1};
  const Mixture mixture(parts_of({100, 20, 300, 7, 573}, weights), 9);
  REQUIRE(mixture.rows() == 1000);
  for (const int64_t epoch : {0, 1, 7}) {
    std::vector<int64_t> seen(weights.size(), 0);
    for (int64_t i = 0; i < mixture.rows(); ++i) {
      ++seen[mixture.at(epoch, i).part];
      for (size_t part = 0; part < seen.size(); ++part)
        CHECK(std::abs(static_cast<double>(seen[part]) - static_cast<double>(i + 1) * weights[part] / 10.0) < 3.0);
    }
    CHECK(seen == std::vector<int64_t>{500, 300, 150, 40, 10});
  }
}

TEST_CASE("mixture: no row comes again before all others of its part were there", "[unit]") {
  const std::vector<int64_t> counts{3, 40, 17};
  const Mixture mixture(parts_of(counts, {4, 1, 2}), 5);
  std::vector<std::set<uint64_t>> seen(3);
  std::vector<std::vector<uint64_t>> first_order(3);
  std::vector<uint64_t> passes(3, 0);
  for (int64_t epoch = 0; epoch < 30; ++epoch)
    for (int64_t i = 0; i < mixture.rows(); ++i) {
      const MixedRow row = mixture.at(epoch, i);
      REQUIRE(row.pass == passes[row.part]);
      REQUIRE(row.index < static_cast<uint64_t>(counts[row.part]));
      CHECK(seen[row.part].insert(row.index).second);
      if (std::ssize(seen[row.part]) == counts[row.part]) seen[row.part].clear(), ++passes[row.part];
    }
  CHECK(passes[0] > 300);
  CHECK(passes[1] > 5);
}

TEST_CASE("mixture: passes and seeds have orders of their own", "[unit]") {
  const auto order = [](uint64_t seed, uint64_t pass) {
    const Mixture mixture(parts_of({50, 50}, {1, 1}), seed);  // an epoch is a pass
    std::vector<uint64_t> rows;
    for (int64_t i = 0; i < 100; ++i)
      if (const auto row = mixture.at(static_cast<int64_t>(pass), i); row.part == 1) rows.push_back(row.index);
    return rows;
  };
  CHECK(order(1, 0) == order(1, 0));
  CHECK(order(1, 0) != order(1, 1));
  CHECK(order(1, 0) != order(2, 0));
  CHECK_FALSE(std::is_sorted(order(1, 0).begin(), order(1, 0).end()));
}

TEST_CASE("mixture: as many rows as no memory holds, after more epochs than are ever run", "[unit]") {
  constexpr int64_t kRows = 1'000'000'000'007;
  const Mixture mixture(parts_of({2 * kRows, kRows, 1}, {3, 1, 1e-30}), 2);
  CHECK(mixture.quota(2) == 1);
  CHECK(mixture.quota(0) + mixture.quota(1) == 3 * kRows);
  int64_t first = 0;
  for (int64_t i = 0; i < 1000; ++i) first += mixture.at(1'000'000, kRows + i).part == 0 ? 1 : 0;
  CHECK(std::abs(first - 750) <= 2);
  const MixedRow last = mixture.at(0, mixture.rows() - 1);  // the last one of the quota of its part
  REQUIRE(last.part < 2);
  const auto count = static_cast<uint64_t>(last.part == 0 ? 2 * kRows : kRows);
  const auto row = static_cast<uint64_t>(mixture.quota(last.part)) - 1;
  CHECK(last.pass == row / count);
  CHECK(last.index == KeyedPermutation(mixture.pass_key(last.part, last.pass), count)(row % count));
  CHECK_NOTHROW(mixture.at(std::numeric_limits<int64_t>::max(), mixture.rows() - 1));
}

TEST_CASE("mixture: a part that has nothing is named", "[unit]") {
  CHECK(contains(thrown<DataError>([] { Mixture(parts_of({4, 0}, {1, 1}), 1); }), "part 1 has nothing to train on"));
}

TEST_CASE("mixture: weights that do not fit the list of files say both numbers", "[unit]") {
  CHECK(wrong_weights({}, 3, "task.data").empty());
  CHECK(wrong_weights({1, 2, 3}, 3, "task.data").empty());
  CHECK(contains(wrong_weights({1, 2, 3}, 1, "task.data"),
                 "task.data.weights are 3, and task.data.train names 1 file or pattern:"));
  CHECK(contains(wrong_weights({1}, 0, "task.data"), "there are none"));
}

TEST_CASE("mixture: other weights are other data, and none are the data's own", "[unit]") {
  const auto of = [](double weight, int64_t count) { return mixed_fingerprint(7, parts_of({count, 5}, {weight, 1})); };
  CHECK(mixed_fingerprint(7, {}) == 7);
  CHECK(of(1, 5) == of(1, 5));
  CHECK(of(1, 5) != of(2, 5));
  CHECK(of(1, 5) != of(1, 6));
}

TEST_CASE("mixture: what is told of a part is what an epoch makes of it", "[unit]") {
  CHECK(described({}, "tokens").empty());
  CHECK(described(parts_of({800, 200}, {7, 3}), "tokens") ==
        std::vector<std::string>{"part 0: 800 tokens, weight 7: 70.0 % of an epoch, which passes them 0.875 times",
                                 "part 1: 200 tokens, weight 3: 30.0 % of an epoch, which passes them 1.5 times"});
}

}  // namespace ordo::test
