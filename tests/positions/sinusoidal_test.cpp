// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
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
  Sinusoidal::Config config{.theta = golden.param("theta", 10000.0)};
  if (golden.param<std::string>("layout", "half") == "half") config.layout = Sinusoidal::Layout::half;
  if (golden.param<std::string>("exponent", "2i/dim") != "2i/dim") config.exponent = Sinusoidal::Exponent::t2t;
  config.learned_scale = golden.params().contains("learned_scale");
  return config;
}

}  // namespace

TEST_CASE("sinusoidal: tables equal those of other implementations", "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "sinusoidal")) {
    if (!golden.has("table")) continue;
    const Tensor want = golden.tensor("table");
    const int64_t dim = want.size(1);
    Sinusoidal encoding = sinusoidal(dim, sinusoidal_config(golden));
    Tensor got =
        table_rows(encoding, dim, consecutive(golden.param<int64_t>("first_position", 0), want.size(0), at::kCPU));
    if (golden.params().contains("padding_idx"))
      got[golden.param<int64_t>("padding_idx", 0)].zero_();  // that peer has no vector for padding
    INFO(golden.id());
    CHECK(close(got, want, golden.tolerance("table")));
  }
}

TEST_CASE("sinusoidal: outputs with a learned scale or scaled embeddings equal those of other implementations",
          "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "sinusoidal")) {
    if (!golden.has("out")) continue;
    const Tensor want = golden.tensor("out");
    const int64_t dim = want.size(-1), first = golden.param<int64_t>("offset", golden.param<int64_t>("step", 0));
    Sinusoidal encoding = sinusoidal(dim, sinusoidal_config(golden));
    {
      const at::NoGradGuard no_grad;
      for (const Tensor& scale : encoding.parameters()) scale.fill_(golden.param("learned_scale", 1.0));
    }
    const Tensor x =
        golden.has("x") ? golden.tensor("x") * std::sqrt(static_cast<double>(dim)) : at::zeros({1, want.size(-2), dim});
    INFO(golden.id());
    CHECK(close(encoding.input(x, consecutive(first, want.size(-2), at::kCPU)).detach().view(want.sizes()), want,
                golden.tolerance("out")));
  }
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
