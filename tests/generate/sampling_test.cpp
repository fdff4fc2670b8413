// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/generate/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "ordo/core/errors.h"
#include "ordo/core/hash.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

using ScoreRow = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Logits of 1 … 12 tokens; some rows have ties.
ScoreRow draw_row(uint64_t number) {
  KeyedSequence draw(mix(77, number));
  ScoreRow row(1 + draw.below(12));
  for (double& x : row) x = number % 2 == 0 ? 6.0 * draw.unit() - 3.0 : static_cast<double>(draw.below(4));
  return row;
}

std::set<size_t> kept(const ScoreRow& row) {
  std::set<size_t> ids;
  for (size_t i = 0; i < row.size(); ++i)
    if (row[i] > -kInfinity) ids.insert(i);
  return ids;
}

// How many tokens stand before `id` when likelier ones come first, and of equal ones the lower id.
size_t rank_of(const ScoreRow& row, size_t id) {
  size_t before = 0;
  for (size_t i = 0; i < row.size(); ++i) before += row[i] > row[id] || (row[i] == row[id] && i < id) ? 1 : 0;
  return before;
}

double mass_before(const ScoreRow& row, size_t id) {
  double all = 0.0, before = 0.0;
  for (size_t i = 0; i < row.size(); ++i) {
    all += std::exp(row[i]);
    before += rank_of(row, i) < rank_of(row, id) ? std::exp(row[i]) : 0.0;
  }
  return before / all;
}

template <class Claim>
std::set<size_t> ids_where(const ScoreRow& row, Claim claim) {
  std::set<size_t> ids;
  for (size_t i = 0; i < row.size(); ++i)
    if (claim(i)) ids.insert(i);
  return ids;
}

}  // namespace

TEST_CASE("top-k keeps the k likeliest tokens", "[unit]") {
  for (uint64_t number = 0; number < 200; ++number)
    for (int64_t k = 1; k <= 13; ++k) {
      const ScoreRow before = draw_row(number);
      ScoreRow after = before;
      keep_top_k(after, k);
      CHECK(kept(after) == ids_where(before, [&](size_t i) { return rank_of(before, i) < static_cast<size_t>(k); }));
    }
}

TEST_CASE("top-p keeps the fewest likeliest tokens that reach the mass", "[unit]") {
  for (uint64_t number = 0; number < 200; ++number)
    for (const double p : {1e-9, 0.1, 0.37, 0.5, 0.9, 0.999}) {
      const ScoreRow before = draw_row(number);
      ScoreRow after = before;
      keep_top_p(after, p);
      CHECK(kept(after) == ids_where(before, [&](size_t i) { return mass_before(before, i) < p - 1e-12; }));
    }
}

TEST_CASE("min-p keeps the tokens with at least that share of the likeliest one's probability", "[unit]") {
  for (uint64_t number = 0; number < 200; ++number)
    for (const double share : {0.01, 0.2, 0.5, 1.0}) {
      const ScoreRow before = draw_row(number);
      const double largest = *std::max_element(before.begin(), before.end());
      ScoreRow after = before;
      keep_min_p(after, share);
      CHECK(kept(after) == ids_where(before, [&](size_t i) { return std::exp(before[i] - largest) >= share - 1e-12; }));
    }
}

TEST_CASE("filters leave what they keep as it is, and do nothing at their neutral setting", "[unit]") {
  const ScoreRow row{0.5, -1.0, 2.0};
  ScoreRow same = row;
  keep_top_k(same, 0);
  keep_top_p(same, 1.0);
  keep_min_p(same, 0.0);
  CHECK(same == row);
  keep_top_k(same, 2);
  CHECK(same == ScoreRow{0.5, -kInfinity, 2.0});
}

TEST_CASE("draws follow the probabilities", "[unit]") {
  const ScoreRow probabilities = softmax(ScoreRow{0.0, 1.0, -kInfinity, -1.0, 2.0});
  std::vector<int64_t> counts(5);
  const int64_t draws = 100'000;
  KeyedSequence sequence(3);
  for (int64_t i = 0; i < draws; ++i) ++counts[static_cast<size_t>(token_at(probabilities, sequence.unit()))];
  CHECK(counts[2] == 0);
  for (size_t i = 0; i < 5; ++i) {
    const double deviation = std::sqrt(draws * probabilities[i] * (1.0 - probabilities[i]));
    CHECK(std::abs(static_cast<double>(counts[i]) - draws * probabilities[i]) <= 4.0 * deviation);
  }
}

TEST_CASE("a draw never falls on an excluded token, at either end", "[unit]") {
  const ScoreRow probabilities{0.0, 0.3, 0.7 - 1e-9, 0.0};
  CHECK(token_at(probabilities, 0.0) == 1);
  CHECK(token_at(ScoreRow{0.5, 0.5}, 0.5) == 1);
  CHECK(token_at(probabilities, std::nextafter(1.0, 0.0)) == 2);
}

TEST_CASE("a low temperature prefers the likeliest token, a high one evens out", "[unit]") {
  const ScoreRow row{1.0, 2.0};
  const auto share_of_first = [&](double temperature) {
    int64_t first = 0;
    KeyedSequence sequence(9);
    for (int i = 0; i < 10'000; ++i)
      first += choose_token(row, {}, {.temperature = temperature}, sequence.unit()) == 0 ? 1 : 0;
    return static_cast<double>(first) / 10'000;
  };
  for (const double temperature : {0.25, 1.0, 4.0})
    CHECK(std::abs(share_of_first(temperature) - 1.0 / (1.0 + std::exp(1.0 / temperature))) < 0.02);
}

TEST_CASE("top-p sees what temperature and top-k have left", "[unit]") {
  const ScoreRow row{std::log(0.4), std::log(0.3), std::log(0.2), std::log(0.1)};
  const auto reachable = [&](const GenerateConfig& config) {
    std::set<int64_t> found;
    for (double unit = 0.0005; unit < 1.0; unit += 0.001) found.insert(choose_token(row, {}, config, unit));
    return found;
  };
  CHECK(reachable({.top_p = 0.55}) == std::set<int64_t>{0, 1});
  CHECK(reachable({.top_k = 2, .top_p = 0.55}) == std::set<int64_t>{0});         // of the two left the first has 0.57
  CHECK(reachable({.temperature = 0.5, .top_p = 0.5}) == std::set<int64_t>{0});  // squares: 0.53 of the mass
  CHECK(reachable({.min_p = 0.6}) == std::set<int64_t>{0, 1});
}

TEST_CASE("greedy takes the likeliest token, of equal ones the lowest id, after the repetition penalty", "[unit]") {
  CHECK(choose_token({1.0, 3.0, 3.0}, {}, {.greedy = true}, 0.99) == 1);
  CHECK(choose_token({1.0, 3.0, 2.0}, std::vector<int64_t>{1}, {.greedy = true, .repetition_penalty = 2.0}, 0.0) == 2);
}

TEST_CASE("logits that are not numbers end in a numeric error, not in a token", "[unit]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(contains(thrown<NumericError>([&] { choose_token({0.0, nan}, {}, {}, 0.5); }), "not a number"));
  CHECK(contains(thrown<NumericError>([&] { choose_token({nan, 0.0}, {}, {.greedy = true}, 0.5); }), "not a number"));
  CHECK(contains(thrown<NumericError>([&] { choose_token({-kInfinity, -kInfinity}, {}, {}, 0.5); }), "infinite"));
}

}  // namespace ordo::test
