// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/ops/softmax_rows.h"

#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ordo/ops/draw.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

std::vector<float> drawn_row(int64_t width, double std, uint64_t key) {
  const Tensor t = at::zeros({width});
  draw_normal(t, std, key);
  return {t.const_data_ptr<float>(), t.const_data_ptr<float>() + width};
}

struct Expected {
  double loss;
  std::vector<double> gradient;
};
// The definition in double precision.
Expected by_definition(const std::vector<float>& logits, size_t target, const RowOptions& o) {
  const auto width = static_cast<double>(logits.size());
  std::vector<double> z(logits.begin(), logits.end());
  double most = -std::numeric_limits<double>::infinity(), total = 0.0, mean = 0.0;
  for (double& v : z) {
    if (o.softcap) v = *o.softcap * std::tanh(v / *o.softcap);
    most = std::max(most, v);
    mean += v / width;
  }
  for (const double v : z) total += std::exp(v - most);
  const double log_z = most + std::log(total);
  Expected e{o.scale * (log_z - (1.0 - o.smoothing) * z[target] - o.smoothing * mean + o.z_loss * log_z * log_z), {}};
  for (size_t i = 0; i < z.size(); ++i) {
    double g = std::exp(z[i] - log_z) * (1.0 + 2.0 * o.z_loss * log_z) - o.smoothing / width -
               (i == target ? 1.0 - o.smoothing : 0.0);
    if (o.softcap) g *= 1.0 - std::pow(z[i] / *o.softcap, 2.0);
    e.gradient.push_back(g * o.scale);
  }
  return e;
}

std::vector<RowOptions> every_row_option() {
  return {{},
          {.smoothing = 0.1},
          {.z_loss = 1e-3},
          {.softcap = 5.0},
          {.scale = 0.01},
          {.smoothing = 0.2, .z_loss = 1e-2, .softcap = 3.0, .scale = 7.0}};
}

}  // namespace

TEST_CASE("row_loss: loss and gradient follow the definition for every option", "[unit]") {
  for (const int64_t width : {1, 2, 7, 65, 1000, 9001})
    for (const double std : {0.1, 3.0, 40.0})
      for (const RowOptions& options : every_row_option()) {
        std::vector<float> row = drawn_row(width, std, static_cast<uint64_t>(width)), capped(row.size());
        const size_t target = row.size() / 2;
        const Expected expected = by_definition(row, target, options);
        const double loss = row_loss(row.data(), width, static_cast<int64_t>(target), options, true, capped.data());
        INFO("width " << width << ", std " << std << ", softcap " << options.softcap.value_or(0.0));
        REQUIRE(std::abs(loss - expected.loss) <= 5e-7 * std::abs(expected.loss) + 1e-6 * options.scale);
        double worst = 0.0;
        for (size_t i = 0; i < row.size(); ++i)
          worst = std::max(worst, std::abs(static_cast<double>(row[i]) - expected.gradient[i]));
        REQUIRE(worst <= 2e-6 * options.scale);
      }
}

TEST_CASE("row_loss: a wide softcap keeps the digits of small logits", "[unit]") {
  const RowOptions options{.softcap = 1000.0};
  const std::vector<float> logits = drawn_row(50, 1.0, 8);
  for (size_t target = 0; target < logits.size(); ++target) {
    std::vector<float> row = logits, capped(row.size());
    const Expected expected = by_definition(row, target, options);
    CHECK(std::abs(row_loss(row.data(), 50, static_cast<int64_t>(target), options, false, capped.data()) -
                   expected.loss) <= 1e-6);
  }
}

TEST_CASE("row_loss: logits far apart and infinitely low ones stay finite", "[unit]") {
  std::vector<float> row{0.0F, -1e30F, 1000.0F, -std::numeric_limits<float>::infinity()};
  const double loss = row_loss(row.data(), 4, 2, {}, true, nullptr);
  CHECK(std::abs(loss) < 1e-6);
  for (const float g : row) CHECK(std::abs(g) < 1e-6F);
}

TEST_CASE("row_loss: a logit that is no number makes the loss no number", "[unit]") {
  for (const float broken : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    for (const size_t place : {size_t{0}, size_t{13}, size_t{39}}) {
      std::vector<float> row = drawn_row(40, 1.0, 3);
      row[place] = broken;
      CHECK_FALSE(std::isfinite(row_loss(row.data(), 40, 5, {}, true, nullptr)));
    }
}

}  // namespace ordo::test
