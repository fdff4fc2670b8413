// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "positions/rotary.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

std::shared_ptr<PositionEncoding> drawn_liere(const std::string& settings, int64_t head_dim) {
  PositionFacts facts = heads_of(head_dim);
  facts.layers = 2;
  const auto encoding = position_of("{kind: liere" + settings + "}", facts);
  initialise(*encoding, 7, {}, 2);
  return encoding;
}

}  // namespace

TEST_CASE("liere: starts as rope, whatever its blocks", "[unit]") {
  const auto rope = position_of("{kind: rope, layout: interleaved}", heads_of(16));
  const Tensor x = noise({2, 3, 7, 16}, 1);
  const Positions at = consecutive(40, 7, at::kCPU);
  for (const std::string settings : {"", ", block: 2", ", block: 4", ", block: 16"}) {
    INFO(settings);
    CHECK(close(drawn_liere(settings, 16)->query(x, at, 1), rope->query(x, at, 1), Tolerance::fp32_sum));
  }
}

TEST_CASE("liere: a block turns by the exponential of its matrix times the position", "[unit]") {
  const auto encoding = drawn_liere(", block: 4", 4);
  {
    const at::NoGradGuard plain;  // entries (1,0), (2,0), (2,1), (3,0), (3,1), (3,2): one turn of channels 1 and 3
    encoding->parameters()[0].zero_();
    encoding->parameters()[0][0][0][0][4] = 0.25;
  }
  const Tensor x = at::tensor({1.0, 2.0, 3.0, 4.0}, at::kDouble).view({1, 1, 1, 4});
  const double c = std::cos(0.25 * 6.0), s = std::sin(0.25 * 6.0);
  const Tensor want = at::tensor({1.0, 2.0 * c - 4.0 * s, 3.0, 4.0 * c + 2.0 * s}, at::kDouble);
  CHECK(close(encoding->key(x, consecutive(6, 1, at::kCPU), 0)[0][0][0], want, Tolerance{1e-12, 1e-12}));
  CHECK(same_bytes(encoding->key(x, consecutive(6, 1, at::kCPU), 1), x));  // the other layer has its own
}

TEST_CASE("liere: lengths stay, and with one axis scores depend on the distance alone", "[unit]") {
  const auto encoding = drawn_liere(", init_std: 0.3", 8);
  CHECK(encoding->traits().relative);
  const Tensor q = noise({1, 2, 5, 8}, 2), k = noise({1, 2, 5, 8}, 3);
  const Tensor turned = encoding->query(q, consecutive(1000, 5, at::kCPU), 0);
  CHECK(close(turned.norm(2, 3), q.norm(2, 3), Tolerance::fp32_sum));
  CHECK_FALSE(close(turned, q, Tolerance::bf16));
  CHECK(close(turned_scores(*encoding, q, k, consecutive(1000, 5, at::kCPU)),
              turned_scores(*encoding, q, k, consecutive(0, 5, at::kCPU)), Tolerance::fp32_sum));
}

TEST_CASE("liere: each axis has its own matrices, starting on pairs of its own", "[unit]") {
  const auto encoding = drawn_liere(", axes: 2", 8);
  CHECK_FALSE(encoding->traits().relative);
  const Positions at{.index = at::zeros({1, 1}, at::kLong),
                     .coords = at::tensor({3.0, 50.0}, at::kDouble).view({1, 1, 2})};
  const Tensor one = at::tensor({1, 0, 1, 0, 1, 0, 1, 0}, at::kDouble).view({1, 1, 1, 8});
  const Tensor cosines = encoding->query(one, at, 0)[0][0][0].slice(0, 0, 8, 2);
  // fp32 frequencies; pairs 0 and 2 by the first axis, 1 and 3 by the second
  CHECK(
      close(cosines, at::tensor({3.0, 50.0 * 0.1, 3.0 * 0.01, 50.0 * 0.001}, at::kDouble).cos(), Tolerance{1e-6, 0.0}));
}

TEST_CASE("liere: init_std draws every place that rope leaves at zero, under each axis", "[unit]") {
  const auto zeros = [](const std::string& settings) {
    return drawn_liere(settings, 8)->parameters()[0].eq(0.0).sum().item<int64_t>();
  };
  CHECK(zeros(", axes: 2, block: 2") == 2 * 4);  // two layers; each of four pairs turns by one axis only
  CHECK(zeros(", axes: 2, block: 2, init_std: 0.1") == 0);
  CHECK(zeros(", axes: 3, block: 4, init_std: 0.1") == 0);
  const auto noisy = drawn_liere(", axes: 2, block: 2, init_std: 0.1", 8);
  const Tensor all = noisy->parameters()[0];  // [layers, axes, blocks, 1]
  CHECK(all[0][0][0][0].item<double>() == 1.0);
  CHECK(all[0][1][1][0].item<double>() == Approx(0.1));
  CHECK(std::abs(all[0][1][0][0].item<double>()) < 0.6);
}

TEST_CASE("liere: without coordinates the index stands for every axis", "[unit]") {
  const auto encoding = drawn_liere(", axes: 2, init_std: 0.1", 8);
  const Tensor x = noise({1, 1, 4, 8}, 4);
  Positions at = consecutive(2, 4, at::kCPU);
  const Tensor want = encoding->query(x, at, 0);
  at.coords = at.index.unsqueeze(-1).expand({1, 4, 2}).to(at::kDouble);
  CHECK(same_bytes(encoding->query(x, at, 0), want));
  at.coords = at.coords.slice(2, 0, 1);
  CHECK_THROWS_WITH(encoding->query(x, at, 0),
                    Catch::Contains("liere: takes 2 coordinates") && Catch::Contains("found 1"));
}

TEST_CASE("liere: every entry of its matrices learns", "[unit]") {
  const auto encoding = drawn_liere("", 8);
  const Tensor q = noise({1, 1, 5, 8}, 5), k = noise({1, 1, 5, 8}, 6);
  (turned_scores(*encoding, q, k, consecutive(0, 5, at::kCPU)) * noise({1, 1, 5, 5}, 7)).sum().backward();
  const Tensor gradient = encoding->parameters()[0].grad();
  CHECK(gradient[0].ne(0.0).all().item<bool>());
  CHECK(gradient[1].eq(0.0).all().item<bool>());  // the layer that was not called
}

TEST_CASE("liere: blocks that do not fill a head are refused", "[unit]") {
  CHECK_THROWS_WITH(drawn_liere(", block: 3", 8),
                    Catch::Contains("liere: block (3) must be even") && Catch::Contains("use 2 or 4"));
  CHECK_THROWS_WITH(drawn_liere(", block: 2, init_std: 0.1", 8), Catch::Contains("init_std (0.1) has nothing to draw"));
  CHECK_THROWS_WITH(drawn_liere(", block: 6", 8), Catch::Contains("groups of 6") && Catch::Contains("6 or 12"));
  CHECK_THROWS_WITH(drawn_liere(", axes: 0", 8), Catch::Contains("axes"));
}

}  // namespace ordo::test
