// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "ordo/positions/time2vec.h"
#include "support/positions.h"
#include "support/times.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {
std::shared_ptr<Time2Vec> time2vec(const Time2Vec::Config& config, int64_t dim) {
  PositionFacts facts = small_facts();
  facts.dim = dim;
  auto made = std::make_shared<Time2Vec>(config, facts);
  initialise(*made, 1, {}, 2);
  return made;
}
}  // namespace

TEST_CASE("time2vec: a line, then sines", "[unit]") {
  const auto encoding = time2vec({.clock = {.unit = 2.0}}, 3);
  const at::NoGradGuard plain;
  encoding->named_parameters()["omega"].copy_(at::tensor({0.5, 1.0, 3.0}));
  encoding->named_parameters()["phi"].copy_(at::tensor({0.1, 0.2, 0.3}));
  const Tensor row = encoding->input(at::zeros({1, 2, 3}), stamped({10.0, 13.0}))[0][1];  // 1.5 units later
  CHECK(row[0].item<double>() == Approx(0.85));
  CHECK(row[1].item<double>() == Approx(std::sin(1.7)));
  CHECK(row[2].item<double>() == Approx(std::sin(4.8)));
}

TEST_CASE("time2vec: frequencies start between 1/span and 1/step, spread by their logarithm", "[unit]") {
  const auto encoding = time2vec({.scales = {.step = 2.0, .span = 2000.0}}, 400);
  const Tensor omega = encoding->named_parameters()["omega"].detach();
  CHECK(omega[0].item<double>() == Approx(1.0 / 2000.0));
  CHECK(omega.min().item<double>() >= 1.0 / 2001.0);
  CHECK(omega.max().item<double>() <= 0.5001);
  const double below = (omega < std::sqrt(0.5 / 2000.0)).to(at::kDouble).mean().item<double>();
  CHECK(below == Approx(0.5).margin(0.1));
}

TEST_CASE("time2vec: frequencies and phases are learned, added or concatenated", "[unit]") {
  for (const FusionMode mode : {FusionMode::add, FusionMode::concat}) {
    const auto encoding = time2vec({.fusion = {.fusion = mode, .position_dim = 6}}, 8);
    const Tensor out = encoding->input(noise({2, 5, 8}, 1), consecutive(0, 5, at::kCPU));
    (out * noise(out.sizes(), 2)).sum().backward();
    for (const char* name : {"omega", "phi"})
      CHECK(encoding->named_parameters()[name].grad().abs().min().item<double>() > 0.0);
    CHECK(encoding->frequencies(5).size(0) == 5);
  }
}

}  // namespace ordo::test
