// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "ordo/positions/learned.h"
#include "ordo/positions/sinusoidal.h"
#include "support/positions.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {
// A fusion whose every parameter is drawn, so that nothing is zero or the identity.
std::shared_ptr<Fusion> drawn_fusion(FusionMode mode, int64_t position_dim, int64_t dim) {
  const auto fusion = std::make_shared<Fusion>(FusionSettings{mode, position_dim}, dim);
  const at::NoGradGuard no_grad;
  uint64_t key = 1;
  for (const Tensor& p : fusion->parameters()) draw_normal(p, 1.0, key++);
  return fusion;
}
}  // namespace

TEST_CASE("fusion: rows of the model's width are added as they are, without a parameter", "[unit]") {
  const auto fusion = std::make_shared<Fusion>(FusionSettings{}, 6);
  const Tensor x = noise({2, 3, 6}, 1), rows = noise({1, 3, 6}, 2);
  CHECK(fusion->parameters().empty());
  CHECK(same_bytes(fusion->forward(x, rows), x + rows));
}

TEST_CASE("fusion: concat in two products equals one product with [x ; P]", "[unit]") {
  for (const int64_t width : {6, 4, 9}) {
    const auto fusion = drawn_fusion(FusionMode::concat, width, 6);
    const Tensor x = noise({2, 3, 6}, 3), rows = noise({1, 3, width}, 4);
    const auto own = fusion->named_parameters();
    const Tensor both = at::cat({x, rows.expand({2, 3, width})}, 2);
    const Tensor want = at::matmul(both, own["weight"].t()) + own["bias"];
    CHECK(close(fusion->forward(x, rows).detach(), want.detach(), Tolerance::fp32));
  }
}

TEST_CASE("fusion: adding is the special case [I | I] of concat", "[unit]") {
  const auto fusion = drawn_fusion(FusionMode::concat, 5, 5);
  {
    const at::NoGradGuard no_grad;
    fusion->named_parameters()["weight"].copy_(at::cat({at::eye(5), at::eye(5)}, 1));
    fusion->named_parameters()["bias"].zero_();
  }
  const Tensor x = noise({1, 4, 5}, 5), rows = noise({1, 4, 5}, 6);
  CHECK(close(fusion->forward(x, rows).detach(), x + rows, Tolerance::fp32));
}

TEST_CASE("fusion: rows of another width are projected and added", "[unit]") {
  const auto fusion = drawn_fusion(FusionMode::add, 3, 2);
  {
    const at::NoGradGuard no_grad;
    fusion->named_parameters()["weight"].copy_(at::tensor({1.0, 2.0, 3.0, -1.0, 0.0, 0.5}).view({2, 3}));
  }
  const Tensor x = at::tensor({10.0, 20.0}, at::kFloat).view({1, 1, 2}),
               rows = at::tensor({1.0, 10.0, 100.0}, at::kFloat).view({1, 1, 3});
  CHECK(close(fusion->forward(x, rows).detach().flatten(), at::tensor({331.0, 69.0}, at::kFloat), Tolerance::fp32));
}

TEST_CASE("fusion: concat starts near the identity", "[unit]") {
  const auto fusion = std::make_shared<Fusion>(FusionSettings{FusionMode::concat, 96}, 64);
  initialise(*fusion, 1, {.std = 7.0}, 1);
  const auto own = fusion->named_parameters();
  CHECK(same_bytes(own["weight"].slice(1, 0, 64).detach().contiguous(), at::eye(64)));
  CHECK(own["weight"].slice(1, 64).std().item<double>() == Approx(0.02).epsilon(0.05));
  CHECK(own["weight"].sizes().vec() == std::vector<int64_t>{64, 160});
  CHECK(same_bytes(own["bias"].detach(), at::zeros({64})));
}

TEST_CASE("fusion: the projection of wider rows starts at N(0, width^-0.5)", "[unit]") {
  const auto fusion = std::make_shared<Fusion>(FusionSettings{FusionMode::add, 100}, 64);
  initialise(*fusion, 1, {.std = 7.0}, 1);
  const Tensor weight = fusion->named_parameters()["weight"];
  CHECK(weight.sizes().vec() == std::vector<int64_t>{64, 100});
  CHECK(weight.std().item<double>() == Approx(0.1).epsilon(0.05));
}

TEST_CASE("fusion: gradients reach the projection, the bias, the input and the rows", "[unit]") {
  for (const auto mode : {FusionMode::add, FusionMode::concat}) {
    const auto fusion = drawn_fusion(mode, 5, 6);
    Tensor x = noise({2, 3, 6}, 3), rows = noise({1, 3, 5}, 4);
    x.requires_grad_(), rows.requires_grad_();
    fusion->forward(x, rows).backward(noise({2, 3, 6}, 9));
    for (const auto& p : fusion->named_parameters()) {
      INFO(p.key());
      CHECK(p.value().grad().abs().max().item<double>() > 0.1);
    }
    CHECK(x.grad().abs().max().item<double>() > 0.1);
    CHECK(rows.grad().abs().max().item<double>() > 0.1);
  }
}

TEST_CASE("fusion: the input keeps its type, sums are made in the rows'", "[unit]") {
  for (const auto mode : {FusionMode::add, FusionMode::concat})
    for (const int64_t width : {4, 6}) {
      const auto fusion = drawn_fusion(mode, width, 6);
      const Tensor x = noise({1, 3, 6}, 3, at::kBFloat16), rows = noise({1, 3, width}, 4);
      const Tensor half = fusion->forward(x, rows);
      CHECK(half.scalar_type() == at::kBFloat16);
      CHECK(same_bytes(half, fusion->forward(x.to(at::kFloat), rows).to(at::kBFloat16)));
      CHECK(fusion->forward(x.to(at::kDouble), rows.to(at::kDouble)).scalar_type() == at::kDouble);
    }
}

TEST_CASE("sinusoidal: more frequencies than the model is wide, projected, equal the formula", "[unit]") {
  constexpr int64_t kDim = 4, kWidth = 10, kLength = 7;
  Sinusoidal encoding({.fusion = {.position_dim = kWidth}}, {.dim = kDim, .max_length = 8});
  initialise(encoding, 2, {}, 1);
  const Tensor weight = encoding.named_parameters()["fusion.weight"].detach().to(at::kDouble),
               x = noise({1, kLength, kDim}, 3), got = encoding.input(x, consecutive(2, kLength, at::kCPU)).detach();
  Tensor want = x.to(at::kDouble).clone();
  for (int64_t i = 0; i < kLength; ++i)
    for (int64_t c = 0; c < kDim; ++c)
      for (int64_t m = 0; m < kWidth / 2; ++m) {
        const double angle = static_cast<double>(i + 2) * std::pow(10000.0, -2.0 * static_cast<double>(m) / kWidth);
        want[0][i][c] += weight[c][2 * m] * std::sin(angle) + weight[c][2 * m + 1] * std::cos(angle);
      }
  CHECK(close(got, want.to(at::kFloat), Tolerance::fp32));
}

TEST_CASE("learned: a concatenated table equals one product with [x ; E]", "[unit]") {
  Learned encoding({.fusion = {FusionMode::concat, 3}}, {.dim = 5, .max_length = 8});
  initialise(encoding, 2, {}, 1);
  const auto own = encoding.named_parameters();
  REQUIRE(own["weight"].sizes().vec() == std::vector<int64_t>{8, 3});
  const Tensor x = noise({2, 4, 5}, 3), rows = own["weight"].slice(0, 1, 5).unsqueeze(0).expand({2, 4, 3});
  const Tensor want = at::matmul(at::cat({x, rows}, 2), own["fusion.weight"].t()) + own["fusion.bias"];
  CHECK(close(encoding.input(x, consecutive(1, 4, at::kCPU)).detach(), want.detach(), Tolerance::fp32));
}

}  // namespace ordo::test
