// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "ordo/positions/time_age.h"
#include "support/positions.h"
#include "support/times.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {
// Shows the features themselves: three of them, dim 3, the linear layer an identity.
std::shared_ptr<TimeAge> bare_ages(const TimeAge::Config& config) {
  PositionFacts facts = small_facts();
  facts.dim = 3, facts.causal = false;
  auto made = std::make_shared<TimeAge>(config, facts);
  const at::NoGradGuard plain;
  made->named_parameters()["project.weight"].copy_(at::eye(3));
  made->named_parameters()["project.bias"].zero_();
  return made;
}
}  // namespace

TEST_CASE("time_age: features fade over time scales from one step to the span", "[unit]") {
  const auto encoding = bare_ages({.features = 3, .unit = 2.0, .scales = {.step = 1.0, .span = 100.0}});
  const Tensor rows = encoding->input(at::zeros({1, 2, 3}), stamped({1.7e9, 1.7e9 + 6.0}))[0];
  CHECK(rows[0][0].item<double>() == Approx(std::exp(-3.0)));
  CHECK(rows[0][1].item<double>() == Approx(std::exp(-0.3)));
  CHECK(rows[0][2].item<double>() == Approx(std::exp(-0.03)));
  CHECK(rows[1].min().item<double>() == 1.0);
}

TEST_CASE("time_age: the row's end is its last real token, in each packed document", "[unit]") {
  const auto encoding = bare_ages({.features = 3});
  const Tensor keys = at::tensor({1, 1, 1, 0, 0}, at::kLong).to(at::kBool).unsqueeze(0);
  const Tensor padded = encoding->input(at::zeros({1, 5, 3}), from_padding(keys))[0];
  const Tensor alone = encoding->input(at::zeros({1, 3, 3}), consecutive(0, 3, at::kCPU))[0];
  CHECK(same_bytes(padded.slice(0, 0, 3).contiguous(), alone));
  const Tensor packed =
      encoding->input(at::zeros({1, 5, 3}), from_segments(at::tensor({0, 0, 1, 1, 1}, at::kLong).unsqueeze(0)))[0];
  CHECK(same_bytes(packed.slice(0, 2).contiguous(), alone));
}

TEST_CASE("time_age: the linear layer learns", "[unit]") {
  const auto encoding = bare_ages({.features = 3});
  const Tensor out = encoding->input(noise({1, 4, 3}, 1), consecutive(0, 4, at::kCPU));
  (out * noise(out.sizes(), 2)).sum().backward();
  CHECK(encoding->named_parameters()["project.weight"].grad().abs().min().item<double>() > 0.0);
}

TEST_CASE("time_age: causal stacks, a span below the step, and one that no feature reaches, are refused in words",
          "[unit]") {
  CHECK_THROWS_WITH(TimeAge({}, small_facts()), Catch::StartsWith("time_age: ") && Catch::Contains("use time_decay"));
  CHECK_THROWS_WITH(bare_ages({.features = 3, .scales = {.step = 2.0, .span = 1.0}}), Catch::Contains("below step"));
  CHECK_THROWS_WITH(bare_ages({.features = 1, .scales = {.step = 2.0, .span = 8.0}}),
                    Catch::Contains("span (8) would do nothing"));
}

}  // namespace ordo::test
