// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/ops/autocast.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>

namespace ordo::test {

namespace {

at::Tensor product(const at::Tensor& a, const at::Tensor& b) { return at::mm(a, b); }
constexpr AutocastState kBf16{true, c10::ScalarType::BFloat16, true};

}  // namespace

TEST_CASE("autocast: products run in its type inside the scope and nowhere else", "[unit]") {
  const at::Tensor x = at::ones({2, 2});
  {
    const AutocastScope scope(at::kCPU, kBf16);
    CHECK(product(x, x).scalar_type() == at::kBFloat16);
    {
      const AutocastScope off(at::kCPU, no_autocast());
      CHECK(product(x, x).scalar_type() == at::kFloat);
    }
    CHECK(product(x, x).scalar_type() == at::kBFloat16);
  }
  CHECK(product(x, x).scalar_type() == at::kFloat);
}

TEST_CASE("autocast: leaving a scope restores what was set before", "[unit]") {
  const AutocastState before = autocast_state(at::kCPU);
  {
    const AutocastScope scope(at::kCPU, {true, c10::ScalarType::Half, false});
    CHECK(autocast_state(at::kCPU) == AutocastState{true, c10::ScalarType::Half, false});
  }
  CHECK(autocast_state(at::kCPU) == before);
}

TEST_CASE("autocast: a weight changed between two scopes is cast anew", "[unit]") {
  const at::Tensor weight = at::ones({2, 2}).requires_grad_(true), x = at::ones({2, 2});
  const auto total = [&] {
    const AutocastScope scope(at::kCPU, kBf16);
    return product(x, weight).sum().item<double>();
  };
  CHECK(total() == 8.0);
  {
    const at::NoGradGuard no_grad;
    weight.mul_(2.0);
  }
  CHECK(total() == 16.0);
}

}  // namespace ordo::test
