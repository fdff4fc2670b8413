// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/diff.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "ordo/positions/alibi.h"
#include "ordo/positions/cape.h"
#include "ordo/positions/chain.h"
#include "ordo/positions/sinusoidal.h"
#include "support/goldens.h"
#include "support/positions.h"

namespace ordo::test {

namespace {
constexpr PositionFacts kCapeTwoSided{.dim = 8, .max_length = 32, .causal = false};
constexpr PositionFacts kOneSided{.dim = 8, .max_length = 32, .causal = true};

std::shared_ptr<Cape> cape(const Cape::Config& config, const PositionFacts& facts = kCapeTwoSided) {
  return std::make_shared<Cape>(config, facts);
}
// [rows, L]
Tensor placed(Cape& encoding, const Positions& at, int64_t rows = 1, const Draw& draw = {}) {
  return encoding.place(at, rows, draw).coords.squeeze(-1);
}
Tensor evaluation_of(const Cape::Config& config, const Positions& at, const PositionFacts& facts = kCapeTwoSided) {
  const auto encoding = cape(config, facts);
  encoding->eval();
  return placed(*encoding, at);
}
Tensor numbers(std::vector<double> values) { return at::tensor(values, at::kDouble).unsqueeze(0); }

// CAPE before the interleaved sinusoid, as a list in a config.
std::shared_ptr<Chain> golden_cape(const GoldenCase& golden) {
  const PositionFacts facts{.dim = golden.param<int64_t>("dim", 0), .max_length = 32, .causal = false};
  const auto move =
      cape({.normalize = golden.param("normalize", false), .freq_scale = golden.param("freq_scale", 1.0)});
  auto both = std::make_shared<Chain>(
      std::vector<std::shared_ptr<PositionEncoding>>{move, std::make_shared<Sinusoidal>(Sinusoidal::Config{}, facts)});
  both->eval();
  return both;
}
Tensor encoded(Chain& both, const Tensor& x, const Positions& at) {
  return both.input(x, both.place(at, x.size(0), {}));
}
}  // namespace

TEST_CASE("cape: before the interleaved sinusoid it equals another implementation", "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "cape")) {
    INFO(golden.id());
    const auto both = golden_cape(golden);
    const Tensor x = golden.tensor("x"), scaled = x * golden.param("content_scale", 1.0);
    const Positions at = consecutive(0, x.size(1), at::kCPU);
    CHECK(close(encoded(*both, at::zeros_like(x), at), golden.tensor("pos_emb"), golden.tolerance("pos_emb")));
    CHECK(close(encoded(*both, scaled, at), golden.tensor("out"), golden.tolerance("out")));
  }
}

TEST_CASE("cape: padded rows equal another implementation, with the one pad that it takes for a token",
          "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "cape")) {
    INFO(golden.id());
    const Tensor want = golden.tensor("pos_emb_lengths"), lengths = golden.tensor("lengths");
    // It hides the positions > length, where a row's last token is at length - 1; hidden ones get zeros.
    const Tensor shown = at::arange(want.size(1)).unsqueeze(0) <= lengths.unsqueeze(1);
    const Tensor got = encoded(*golden_cape(golden), at::zeros_like(want), from_padding(shown));
    CHECK(close(got * shown.unsqueeze(-1), want, golden.tolerance("pos_emb_lengths")));
  }
}

TEST_CASE("cape: the mean is that of a token's own document, and padding takes no part in it", "[unit]") {
  const auto of = [](std::vector<int64_t> index) {
    return evaluation_of({}, {.index = at::tensor(index, at::kLong).unsqueeze(0)}).slice(1, 0);
  };
  CHECK(same_bytes(of({0, 1, 2, 3}), numbers({-1.5, -0.5, 0.5, 1.5})));
  CHECK(same_bytes(of({0, 0, 0, 1, 2}).slice(1, 2).contiguous(), numbers({-1.0, 0.0, 1.0})));  // padded on the left
  CHECK(same_bytes(of({0, 1, 2, 0, 0}).slice(1, 0, 3).contiguous(), numbers({-1.0, 0.0, 1.0})));
  CHECK(same_bytes(of({0, 1, 2, 0, 1, 0}), numbers({-1.0, 0.0, 1.0, -0.5, 0.5, 0.0})));  // packed
  CHECK(same_bytes(of({7, 8, 9}), numbers({-1.0, 0.0, 1.0})));
  CHECK(same_bytes(of({2, 3, 10}), numbers({-3.0, -2.0, 5.0})));  // moved before
}

TEST_CASE("cape: in a causal stack every row has the same mean, so that a prefix keeps its positions", "[unit]") {
  const Tensor whole = evaluation_of({}, consecutive(0, 32, at::kCPU), kOneSided);
  CHECK(same_bytes(whole, evaluation_of({}, consecutive(0, 32, at::kCPU), kCapeTwoSided)));
  CHECK(same_bytes(evaluation_of({}, consecutive(10, 1, at::kCPU), kOneSided), whole.slice(1, 10, 11).contiguous()));
  CHECK(same_bytes(evaluation_of({}, consecutive(0, 40, at::kCPU), kOneSided).slice(1, 0, 32).contiguous(), whole));
}

TEST_CASE("cape: without normalize evaluation leaves positions where they are", "[unit]") {
  CHECK(same_bytes(evaluation_of({.normalize = false}, consecutive(3, 3, at::kCPU)), numbers({3.0, 4.0, 5.0})));
  CHECK(same_bytes(evaluation_of({.normalize = false, .freq_scale = 30.0}, consecutive(3, 2, at::kCPU)),
                   numbers({90.0, 120.0})));
}

TEST_CASE("cape: the global shift moves a row as a whole, within its limit", "[unit]") {
  const auto encoding = cape({.global_shift = 5.0, .local_shift = 0.0, .scale = 1.0, .normalize = false});
  const Tensor got = placed(*encoding, consecutive(0, 4, at::kCPU), 400), by = got.select(1, 0);
  CHECK(close(at::diff(got), at::zeros_like(at::diff(got)) + 1.0, Tolerance::fp64));
  CHECK(by.abs().max().item<double>() <= 5.0);
  CHECK(by.max().item<double>() > 4.7);
  CHECK(by.min().item<double>() < -4.7);
}

TEST_CASE("cape: the local shift moves each token on its own, within its limit", "[unit]") {
  const auto encoding = cape({.global_shift = 0.0, .local_shift = 0.5, .scale = 1.0, .normalize = false});
  const Tensor by = placed(*encoding, consecutive(0, 200, at::kCPU), 2) - at::arange(200);
  CHECK(by.abs().max().item<double>() <= 0.5);
  CHECK(by.max().item<double>() > 0.47);
  CHECK(by.min().item<double>() < -0.47);
  CHECK_FALSE(same_bytes(by[0], by[1]));
}

TEST_CASE("cape: the scale multiplies or divides a row after its shifts", "[unit]") {
  const auto encoding = cape({.global_shift = 0.0, .local_shift = 0.0, .scale = 2.0, .normalize = true});
  const Tensor got = placed(*encoding, consecutive(0, 3, at::kCPU), 400), last = got.select(1, 2);
  CHECK(close(got.select(1, 0), -last, Tolerance::fp64));
  CHECK(got.select(1, 1).abs().max().item<double>() == 0.0);
  CHECK(last.max().item<double>() <= 2.0);
  CHECK(last.max().item<double>() > 1.9);
  CHECK(last.min().item<double>() >= 0.5);
  CHECK(last.min().item<double>() < 0.53);
  CHECK(last.log().mean().item<double>() == Approx(0.0).margin(0.1));  // as often down as up
  // The draws are the same whatever the limits: with shifts the whole of them is scaled.
  const auto shifted = cape({.global_shift = 3.0, .local_shift = 0.25, .scale = 1.0});
  const auto both = cape({.global_shift = 3.0, .local_shift = 0.25, .scale = 2.0});
  const Positions at = consecutive(0, 3, at::kCPU);
  CHECK(close(placed(*both, at, 400), placed(*shifted, at, 400) * last.unsqueeze(1), Tolerance::fp64));
}

TEST_CASE("cape: the same micro-batch draws the same, the next one another", "[unit]") {
  const auto encoding = cape({});
  const Positions at = consecutive(0, 6, at::kCPU);
  CHECK(same_bytes(placed(*encoding, at, 2, {.step = 1}), placed(*encoding, at, 2, {.step = 1})));
  CHECK_FALSE(same_bytes(placed(*encoding, at, 2, {.step = 1}), placed(*encoding, at, 2, {.step = 2})));
}

TEST_CASE("cape: biases of whole offsets refuse its positions in words", "[unit]") {
  const auto encoding = cape({});
  Alibi alibi({}, small_facts());
  const Positions at = encoding->place(consecutive(0, 4, at::kCPU), 1, {});
  CHECK_THROWS_WITH(alibi.scores({.q = at, .k = at}), Catch::Contains("real-valued"));
}

}  // namespace ordo::test
