// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "ordo/positions/sinusoidal.h"
#include "ordo/positions/sinusoidal_learned.h"
#include "support/positions.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {
constexpr PositionFacts kHybridFacts{.dim = 6, .max_length = 8};

// With a drawn table of eight rows, so that the correction shows.
std::shared_ptr<SinusoidalLearned> drawn_hybrid(const SinusoidalLearned::Config& config = {}) {
  const auto encoding = std::make_shared<SinusoidalLearned>(config, kHybridFacts);
  initialise(*encoding, 1, {}, 1);
  const at::NoGradGuard no_grad;
  draw_normal(encoding->named_parameters()["weight"], 1.0, 4);
  return encoding;
}
Tensor pure_sinusoid(const Tensor& x, const Positions& at) { return Sinusoidal({}, kHybridFacts).input(x, at); }
}  // namespace

TEST_CASE("sinusoidal_learned: before training it is the sinusoid, to the bit", "[unit]") {
  const auto encoding = std::make_shared<SinusoidalLearned>(SinusoidalLearned::Config{}, kHybridFacts);
  initialise(*encoding, 1, {}, 1);
  const Tensor x = noise({2, 12, 6}, 3);
  for (const Positions& at : {consecutive(0, 12, at::kCPU), consecutive(3, 12, at::kCPU),
                              Positions{.index = at::arange(11, -1, -1).unsqueeze(0)}})
    CHECK(same_bytes(encoding->input(x, at).detach(), pure_sinusoid(x, at)));
}

TEST_CASE("sinusoidal_learned: x + P[i] + alpha E[i]", "[unit]") {
  const auto encoding = drawn_hybrid({.learned_alpha = true});
  const auto own = encoding->named_parameters();
  {
    const at::NoGradGuard no_grad;
    own["alpha"].fill_(-2.5);
  }
  const Tensor x = noise({2, 5, 6}, 3);
  const Positions at = consecutive(2, 5, at::kCPU);
  const Tensor want = pure_sinusoid(x, at) - 2.5 * own["weight"].detach().slice(0, 2, 7);
  CHECK(close(encoding->input(x, at).detach(), want, Tolerance::fp32));
  CHECK(close(encoding->input(x, {.index = at.index}).detach(), want, Tolerance::fp32));
}

TEST_CASE("sinusoidal_learned: past its table the sinusoid goes on alone", "[unit]") {
  const auto encoding = drawn_hybrid();
  const Tensor x = noise({1, 6, 6}, 3);
  const Positions at = consecutive(5, 6, at::kCPU);
  const Tensor got = encoding->input(x, at).detach(), pure = pure_sinusoid(x, at);
  CHECK(same_bytes(got.slice(1, 3).contiguous(), pure.slice(1, 3).contiguous()));
  CHECK_FALSE(close(got.slice(1, 0, 3), pure.slice(1, 0, 3), Tolerance::bf16));
  CHECK_FALSE(encoding->refuses_length(1000));
}

TEST_CASE("sinusoidal_learned: gradients reach the rows in use, and no other", "[unit]") {
  const auto encoding = drawn_hybrid();
  encoding->input(at::zeros({2, 4, 6}), {.index = at::tensor({2, 3, 7, 9}, at::kLong).unsqueeze(0)}).sum().backward();
  CHECK(same_bytes(encoding->named_parameters()["weight"].grad().select(1, 0),
                   at::tensor({0.0, 0.0, 2.0, 2.0, 0.0, 0.0, 0.0, 2.0}, at::kFloat)));
}

TEST_CASE("sinusoidal_learned: a learned alpha starts at 1 and gets a gradient", "[unit]") {
  const auto encoding = drawn_hybrid({.learned_alpha = true});
  const Tensor alpha = encoding->named_parameters()["alpha"];
  CHECK(alpha.item<double>() == 1.0);
  encoding->input(at::zeros({1, 4, 6}), consecutive(0, 4, at::kCPU)).sum().backward();
  const double want = encoding->named_parameters()["weight"].slice(0, 0, 4).sum().item<double>();
  CHECK(alpha.grad().item<double>() == Approx(want));
  CHECK(std::abs(want) > 0.1);
}

TEST_CASE("sinusoidal_learned: a longer table starts with the saved rows, then zeros; or is stretched", "[unit]") {
  const Tensor saved = noise({3, 6}, 5);
  const auto extended = drawn_hybrid()->resized("weight", saved);
  REQUIRE(extended);
  CHECK(same_bytes(extended->value.slice(0, 0, 3).contiguous(), saved));
  CHECK(same_bytes(extended->value.slice(0, 3).contiguous(), at::zeros({5, 6})));
  CHECK(extended->how == "3 rows kept, 5 new");
  const auto stretched =
      drawn_hybrid({.max_positions = 5, .on_resize = OnResize::interpolate})->resized("weight", saved);
  REQUIRE(stretched);
  CHECK(close(stretched->value[1], (saved[0] + saved[1]) / 2, Tolerance::fp32));
  CHECK(same_bytes(stretched->value[4], saved[2]));
  CHECK_FALSE(drawn_hybrid()->resized("alpha", saved));
}

TEST_CASE("sinusoidal_learned: real-valued positions and odd pairs are refused in words", "[unit]") {
  const Positions real{.index = at::zeros({1, 2}, at::kLong), .coords = at::zeros({1, 2, 1})};
  CHECK_THROWS_WITH(drawn_hybrid()->input(at::zeros({1, 2, 6}), real), Catch::Contains("real-valued"));
  CHECK_THROWS_WITH(SinusoidalLearned({.fusion = {.position_dim = 5}}, kHybridFacts),
                    Catch::StartsWith("sinusoidal_learned: ") && Catch::Contains("5 wide"));
  CHECK_THROWS_WITH(SinusoidalLearned({}, {.dim = 6}), Catch::Contains("max_positions"));
}

TEST_CASE("sinusoidal_learned: its frequencies are the sinusoid's", "[unit]") {
  CHECK(same_bytes(drawn_hybrid()->frequencies(8), Sinusoidal({}, kHybridFacts).frequencies(8)));
}

}  // namespace ordo::test
