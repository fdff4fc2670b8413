// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/attention/score_rows.h"

#include <cmath>
#include <vector>

using ordo::ScoreStrip;

namespace {
// exp(-x) for x in steps, through the first row of a strip whose largest score is 0.
std::vector<float> exponentials(const std::vector<float>& x) {
  std::vector<float> scores{0.0F};
  for (const float value : x) scores.push_back(value);
  const int32_t low = 0, high = static_cast<int32_t>(scores.size());
  float sum = 0.0F, lse = 0.0F;
  ordo::softmax_strip({.scores = scores.data(), .stride = high, .rows = 1, .columns = high, .low = &low, .high = &high},
                      &sum, &lse);
  return {scores.begin() + 1, scores.end()};
}
}  // namespace

TEST_CASE("softmax rows: the exponential is right to 2 units in the last place down to -80, and zero below", "[unit]") {
  std::vector<float> x;
  for (int i = 0; i <= 200000; ++i) x.push_back(-80.0F * static_cast<float>(i) / 200000.0F);
  const std::vector<float> found = exponentials(x);
  double worst = 0.0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double exact = std::exp(static_cast<double>(x[i]));
    const double unit = std::ldexp(1.0, std::ilogb(exact) - 23);
    worst = std::max(worst, std::abs(static_cast<double>(found[i]) - exact) / unit);
  }
  CHECK(worst <= 2.0);
  for (const float zero : exponentials({-80.1F, -1000.0F, -1e30F, -INFINITY})) CHECK(zero == 0.0F);
}

TEST_CASE("softmax rows: columns outside a row's span are zero and do not count", "[unit]") {
  std::vector<float> scores{9.0F, 1.0F, 2.0F, 9.0F, 9.0F, 9.0F, 9.0F, 9.0F};
  const std::vector<int32_t> low{11, 13}, high{13, 13};
  std::vector<float> sum(2), lse(2);
  ordo::softmax_strip({.scores = scores.data(),
                       .stride = 4,
                       .rows = 2,
                       .columns = 4,
                       .first = 10,
                       .low = low.data(),
                       .high = high.data()},
                      sum.data(), lse.data());
  CHECK(scores[0] == 0.0F);
  CHECK(scores[3] == 0.0F);
  CHECK(scores[2] == 1.0F);
  CHECK(lse[0] == Approx(2.0 + std::log1p(std::exp(-1.0))));
  for (size_t i = 4; i < 8; ++i) CHECK(scores[i] == 0.0F);
  CHECK(sum[1] == 1.0F);
}

TEST_CASE("softmax rows: a bias over offsets moves one place to the left from row to row", "[unit]") {
  std::vector<float> scores(6, 0.0F);
  const std::vector<float> bias{10.0F, 20.0F, 30.0F, 40.0F};  // row 0 reads from place 1, row 1 from place 0
  const std::vector<int32_t> low{0, 0}, high{3, 3};
  std::vector<float> sum(2), lse(2);
  ordo::softmax_strip({.scores = scores.data(),
                       .stride = 3,
                       .rows = 2,
                       .columns = 3,
                       .low = low.data(),
                       .high = high.data(),
                       .bias = bias.data() + 1,
                       .bias_step = -1},
                      sum.data(), lse.data());
  CHECK(lse[0] == Approx(40.0).epsilon(1e-4));
  CHECK(lse[1] == Approx(30.0).epsilon(1e-4));
}
