// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "ordo/positions/sinusoidal.h"
#include "support/goldens.h"
#include "support/positions.h"

namespace ordo::test {

namespace {

Sinusoidal sinusoidal(int64_t dim, const Sinusoidal::Config& config = {}) {
  return {config, {.dim = dim, .max_length = 8}};
}

// P itself: what is added to an input of zeros. [L, D]
Tensor table_rows(Sinusoidal& encoding, int64_t dim, const Positions& at) {
  return encoding.input(at::zeros({1, at.length(), dim}), at).squeeze(0).detach();
}

Sinusoidal::Config sinusoidal_config(const GoldenCase& golden) {
  SinusoidSettings sines{.theta = golden.param("theta", 10000.0)};
  if (golden.param<std::string>("layout", "") == "half") sines.layout = SinusoidLayout::half;
  if (golden.param<std::string>("exponent", "2i/dim") != "2i/dim") sines.exponent = SinusoidExponent::t2t;
  return {.sines = sines, .learned_scale = golden.params().contains("learned_scale")};
}

void check_table(const GoldenCase& golden) {
  const Tensor want = golden.tensor("table");
  const int64_t dim = want.size(1), first = golden.param<int64_t>("first_position", 0);
  Sinusoidal encoding = sinusoidal(dim, sinusoidal_config(golden));
  Tensor got = table_rows(encoding, dim, consecutive(first, want.size(0), at::kCPU));
  if (golden.params().contains("padding_idx"))
    got[golden.param<int64_t>("padding_idx", 0)].zero_();  // that peer has no vector for padding
  CHECK(close(got, want, golden.tolerance("table")));
}

// Outputs with a learned scale, or of embeddings that are scaled beforehand.
void check_output(const GoldenCase& golden) {
  const Tensor want = golden.tensor("out");
  const int64_t dim = want.size(-1), first = golden.param<int64_t>("offset", golden.param<int64_t>("step", 0));
  Sinusoidal encoding = sinusoidal(dim, sinusoidal_config(golden));
  {
    const at::NoGradGuard no_grad;
    for (const Tensor& scale : encoding.parameters()) scale.fill_(golden.param("learned_scale", 1.0));
  }
  const Tensor x =
      golden.has("x") ? golden.tensor("x") * std::sqrt(static_cast<double>(dim)) : at::zeros({1, want.size(-2), dim});
  CHECK(close(encoding.input(x, consecutive(first, want.size(-2), at::kCPU)).detach().view(want.sizes()), want,
              golden.tolerance("out")));
}

}  // namespace

TEST_CASE("sinusoidal: tables and outputs equal those of other implementations", "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "sinusoidal")) {
    INFO(golden.id());
    if (golden.has("table"))
      check_table(golden);
    else if (golden.has("out"))
      check_output(golden);
    else
      FAIL("a case with nothing to compare");
  }
}

TEST_CASE("sinusoidal: its frequencies are those of the convention", "[unit]") {
  const auto of = [](int64_t width, const SinusoidSettings& sines) {
    return Sinusoidal({.sines = sines, .fusion = {.position_dim = width}}, {.dim = 4, .max_length = 8})
        .frequencies(100);
  };
  const auto doubles = [](std::vector<double> values) { return at::tensor(values, at::kDouble); };
  CHECK(close(of(8, {}), doubles({1.0, 0.1, 0.01, 0.001}), Tolerance::fp64));
  CHECK(close(of(8, {.theta = 1000.0, .exponent = SinusoidExponent::t2t}), doubles({1.0, 0.1, 0.01, 0.001}),
              Tolerance::fp64));
  CHECK(close(of(5, {.theta = 32.0, .layout = SinusoidLayout::half}), doubles({1.0, std::exp2(-2.0), std::exp2(-4.0)}),
              Tolerance::fp64));
}

TEST_CASE("sinusoidal: fewer frequencies are those of a narrower table, repeated; the norm stays", "[unit]") {
  const SinusoidSettings few{.theta = 100.0, .frequencies = 2};
  const Tensor got = Sinusoidal({.sines = few}, {.dim = 10, .max_length = 8}).frequencies(100);
  CHECK(close(got, at::tensor({1.0, 1.0, 1.0, 0.1, 0.1}, at::kDouble), Tolerance::fp64));
  Sinusoidal one = sinusoidal(8, {.sines = {.frequencies = 1}}), all = sinusoidal(8);
  Sinusoidal four = sinusoidal(8, {.sines = {.frequencies = 4}});
  const Positions at = consecutive(0, 20, at::kCPU);
  CHECK(close(table_rows(one, 8, at).norm(2, 1), table_rows(all, 8, at).norm(2, 1), Tolerance::fp32));
  CHECK(same_bytes(table_rows(four, 8, at), table_rows(all, 8, at)));
  CHECK_THROWS_WITH(sinusoidal(8, {.sines = {.frequencies = 5}}),
                    Catch::StartsWith("sinusoidal: 5 ") && Catch::Contains("10 columns") && Catch::Contains("8 wide"));
}

TEST_CASE("sinusoidal: scale multiplies its rows, and a learned one multiplies them again", "[unit]") {
  Sinusoidal plain = sinusoidal(8), scaled = sinusoidal(8, {.scale = 0.25});
  const Positions at = consecutive(0, 20, at::kCPU);
  CHECK(same_bytes(table_rows(scaled, 8, at), table_rows(plain, 8, at) * 0.25));
  Sinusoidal learned = sinusoidal(8, {.learned_scale = true}),
             both = sinusoidal(8, {.scale = 0.25, .learned_scale = true});
  CHECK(same_bytes(table_rows(both, 8, at), table_rows(learned, 8, at) * 0.25));
}

TEST_CASE("sinusoidal: an odd number of columns cannot alternate in pairs", "[unit]") {
  CHECK_THROWS_WITH(sinusoidal(7), Catch::Contains("7 wide") && Catch::Contains("layout: half"));
  CHECK_THROWS_WITH(sinusoidal(8, {.fusion = {.position_dim = 13}}),
                    Catch::StartsWith("sinusoidal: ") && Catch::Contains("position_dim: 14"));
  CHECK_NOTHROW(sinusoidal(8, {.sines = {.layout = SinusoidLayout::half}, .fusion = {.position_dim = 13}}));
}

TEST_CASE("sinusoidal: positions in any order get the rows of the same positions in order", "[unit]") {
  Sinusoidal encoding = sinusoidal(6);
  const Tensor ordered = table_rows(encoding, 6, consecutive(0, 300, at::kCPU));
  const Tensor index = at::arange(299, -1, -1).unsqueeze(0);
  CHECK(same_bytes(table_rows(encoding, 6, {.index = index}), ordered.flip(0).contiguous()));
}

TEST_CASE("sinusoidal: a position far away costs no table up to there", "[unit]") {
  constexpr int64_t kFar = int64_t{1} << 40;  // such a table would hold terabytes
  Sinusoidal encoding = sinusoidal(2);
  const Tensor got = table_rows(encoding, 2, consecutive(kFar, 1, at::kCPU));
  CHECK(got[0][0].item<double>() == Approx(std::sin(static_cast<double>(kFar))));
  CHECK(same_bytes(table_rows(encoding, 2, {.index = at::full({1, 1}, kFar, at::kLong)}), got));
}

TEST_CASE("sinusoidal: a real-valued position between two integers gets its own angle", "[unit]") {
  Sinusoidal encoding = sinusoidal(2);
  const Tensor coords = at::full({1, 1, 1}, 2.5);
  const Tensor got = table_rows(encoding, 2, {.index = at::zeros({1, 1}, at::kLong), .coords = coords});
  CHECK(got[0][0].item<double>() == Approx(std::sin(2.5)));
  CHECK(got[0][1].item<double>() == Approx(std::cos(2.5)));
}

TEST_CASE("sinusoidal: two coordinates a token are refused in words", "[unit]") {
  Sinusoidal encoding = sinusoidal(4);
  const Positions at{.index = at::zeros({1, 3}, at::kLong), .coords = at::zeros({1, 3, 2})};
  CHECK_THROWS_WITH(encoding.input(at::zeros({1, 3, 4}), at), Catch::Contains("one coordinate a token, found 2"));
}

TEST_CASE("sinusoidal: a bf16 input stays bf16", "[unit]") {
  Sinusoidal encoding = sinusoidal(4);
  CHECK(encoding.input(at::zeros({1, 3, 4}, at::kBFloat16), consecutive(0, 3, at::kCPU)).scalar_type() ==
        at::kBFloat16);
}

TEST_CASE("sinusoidal: the learned scale starts at dim^-0.5 and gets a gradient", "[unit]") {
  Sinusoidal encoding = sinusoidal(16, {.learned_scale = true});
  initialise(encoding, 1, {}, 1);
  const Tensor scale = encoding.named_parameters()["scale"];
  CHECK(scale.item<double>() == Approx(0.25));
  encoding.input(at::zeros({1, 3, 16}), consecutive(0, 3, at::kCPU)).sum().backward();
  CHECK(std::abs(scale.grad().item<double>()) > 1.0);
}

}  // namespace ordo::test
