// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "ordo/positions/delta_time.h"
#include "support/positions.h"
#include "support/times.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {
// Shows the features themselves: dim 2, the linear layer an identity.
std::shared_ptr<DeltaTime> bare_gaps(double unit = 1.0) {
  PositionFacts facts = small_facts();
  facts.dim = 2;
  auto made = std::make_shared<DeltaTime>(DeltaTime::Config{.unit = unit}, facts);
  const at::NoGradGuard plain;
  made->named_parameters()["project.weight"].copy_(at::eye(2));
  made->named_parameters()["project.bias"].zero_();
  return made;
}
Tensor gap_features(const Positions& at, double unit = 1.0) {
  return bare_gaps(unit)->input(at::zeros({1, at.length(), 2}), at)[0].detach();
}
}  // namespace

TEST_CASE("delta_time: a gap and its logarithm, in units; none before the first token", "[unit]") {
  const Tensor rows = gap_features(stamped({1.7e9, 1.7e9 + 60.0, 1.7e9 + 240.0}), 60.0);
  CHECK(rows[0].abs().max().item<double>() == 0.0);
  CHECK(rows[1][0].item<double>() == Approx(std::log(2.0)));
  CHECK(rows[1][1].item<double>() == 1.0);
  CHECK(rows[2][0].item<double>() == Approx(std::log(4.0)));
  CHECK(rows[2][1].item<double>() == 3.0);
}

TEST_CASE("delta_time: the index has gaps of 1, also where a call goes on", "[unit]") {
  const Tensor whole = gap_features(consecutive(0, 6, at::kCPU)), later = gap_features(consecutive(4, 2, at::kCPU));
  CHECK(same_bytes(later, whole.slice(0, 4).contiguous()));
  CHECK(later[0][1].item<double>() == 1.0);
}

TEST_CASE("delta_time: padding and the first tokens of packed documents have no gap", "[unit]") {
  const Tensor keys = at::tensor({0, 0, 1, 1, 0}, at::kLong).to(at::kBool).unsqueeze(0);
  CHECK(same_bytes(gap_features(from_padding(keys)).select(1, 1).contiguous(), at::tensor({0.f, 0.f, 0.f, 1.f, 0.f})));
  const Positions packed = from_segments(at::tensor({0, 0, 1, 1}, at::kLong).unsqueeze(0));
  CHECK(same_bytes(gap_features(packed).select(1, 1).contiguous(), at::tensor({0.f, 1.f, 0.f, 1.f})));
}

TEST_CASE("delta_time: stamps of a row that goes on must bring the gap along", "[unit]") {
  CHECK_THROWS_WITH(gap_features(stamped({5.0, 9.0}, 2)), Catch::Contains("two coordinates a token"));
  Positions at = stamped({5.0, 9.0}, 2);
  at.coords = at::stack({at.coords.select(2, 0), at::tensor({2.0, 4.0}, at::kDouble).unsqueeze(0)}, 2);
  const Tensor rows = gap_features(at);
  CHECK(rows[0][1].item<double>() == 2.0);
  CHECK(rows[1][1].item<double>() == 4.0);
}

TEST_CASE("delta_time: the linear layer learns", "[unit]") {
  const auto encoding = bare_gaps();
  const Tensor out = encoding->input(noise({1, 4, 2}, 1), consecutive(0, 4, at::kCPU));
  (out * noise(out.sizes(), 2)).sum().backward();
  CHECK(encoding->named_parameters()["project.weight"].grad().abs().min().item<double>() > 0.0);
}

}  // namespace ordo::test
