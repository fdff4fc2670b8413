// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/positions/kerple.h"

#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>

#include <cmath>

#include "positions/bias_checks.h"
#include "support/goldens.h"

namespace ordo::test {

namespace {
using KerpleVariant = Kerple::Variant;
constexpr KerpleVariant kAllKerples[] = {KerpleVariant::log, KerpleVariant::power, KerpleVariant::log3};

Kerple kerple(const Kerple::Config& config, int64_t heads = 2, int64_t layers = 1) {
  Kerple made(config, {.heads = heads, .kv_heads = heads, .head_dim = 4, .layers = layers});
  initialise(made, 7, {}, layers);
  return made;
}

// The whole score that the bias makes of the content scores [1, H, n, n]: queries and keys whose products they are.
Tensor scored(Kerple& encoding, const Tensor& scores) {
  AttentionPass pass = last_rows(scores.size(2), scores.size(3));
  pass.scale = 0.5;
  const Tensor keys = at::eye(scores.size(3)).expand_as(scores);
  return scores + encoding.scores(pass)->tile({0, scores.size(2), 0, scores.size(3)}, scores / pass.scale, keys);
}

// ln, power or log3 of one distance with numbers of one head.
double kerple_bias(KerpleVariant variant, double d, double a, double b, double p) {
  if (variant == KerpleVariant::log) return -p * std::log(1.0 + a * d);
  if (variant == KerpleVariant::power) return -a * std::pow(d, p);
  return -b * std::log(1.0 + a * std::pow(d, p));
}
}  // namespace

TEST_CASE("kerple: biases of the logarithmic forms equal those of other implementations", "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "kerple")) {
    const auto variant = golden.param<std::string>("variant", "");
    if (variant == "power") continue;  // the next case's
    INFO(golden.id());
    const bool three = golden.has("b");
    if (!three && variant != "log") FAIL("a variant of another form");
    Kerple encoding =
        kerple({.variant = three ? KerpleVariant::log3 : KerpleVariant::log}, golden.param<int64_t>("heads", 0));
    for (const std::string name : {"a", "b", "p"})
      if (golden.has(name)) set_parameter(encoding, name, golden.tensor(name));
    const Tensor want = golden.tensor("bias");
    const AttentionPass pass = last_rows(want.size(2), want.size(3)), last = last_rows(1, want.size(3));
    const auto bias = encoding.scores(pass);
    const auto seen = [&](const Tensor& t) { return three ? t.detach() : seen_of(t.detach()); };
    CHECK(close(seen(dense_bias(*bias, pass)), seen(want), golden.tolerance("bias")));
    CHECK(close(seen(spread_bias(*bias, pass)), seen(want), golden.tolerance("bias")));
    if (golden.has("bias_last_query"))
      CHECK(close(dense_bias(*encoding.scores(last), last).detach(), golden.tensor("bias_last_query"),
                  golden.tolerance("bias_last_query")));
    if (!golden.has("a_clamped")) continue;
    CHECK(close(bias->inputs()[0].detach(), golden.tensor("a_clamped").flatten(), golden.tolerance("a_clamped")));
    CHECK(close(bias->inputs()[1].detach(), golden.tensor("p_clamped").flatten(), golden.tolerance("p_clamped")));
  }
}

TEST_CASE("kerple: scores of the power form, alone and multiplied, equal those of another implementation",
          "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "kerple")) {
    if (golden.param<std::string>("variant", "") != "power") continue;  // the case before
    INFO(golden.id());
    Kerple encoding = kerple({.variant = KerpleVariant::power, .multiplicative = golden.param("multiplicative", false)},
                             golden.param<int64_t>("heads", 0));
    for (const auto& name : encoding.named_parameters().keys()) set_parameter(encoding, name, golden.tensor(name));
    const Tensor found = scored(encoding, golden.tensor("scores")).detach();
    CHECK(close(seen_of(found), seen_of(golden.tensor("out")), golden.tolerance("out")));
  }
}

TEST_CASE("kerple: each form is its formula, on both sides of a query", "[unit]") {
  for (const KerpleVariant variant : kAllKerples) {
    Kerple encoding = kerple({.variant = variant});
    const AttentionPass pass = last_rows(3, 7, false);
    const auto bias = encoding.scores(pass);
    const Tensor dense = dense_bias(*bias, pass).detach();
    const auto named = encoding.named_parameters();
    const auto number = [&](const char* name, int64_t h) {
      return named.contains(name) ? named[name][0][h].item<double>() : 0.0;
    };
    for (int64_t h = 0; h < 2; ++h)
      for (const int64_t i : {0, 2})
        for (const int64_t j : {0, 4, 5, 6}) {
          const double want = kerple_bias(variant, static_cast<double>(std::abs(i + 4 - j)), number("a", h),
                                          number("b", h), number("p", h));
          CHECK(dense[0][h][i][j].item<double>() == Approx(want).margin(1e-6));
        }
  }
}

TEST_CASE("kerple: each tile is a piece of the form by offset, wherever the text starts", "[unit]") {
  for (const KerpleVariant variant : kAllKerples)
    for (const bool causal : {true, false})
      for (const int64_t start : {0, 5000}) {
        Kerple encoding = kerple({.variant = variant});
        CHECK(tiles_agree(encoding, causal, start));
      }
}

TEST_CASE("kerple: positions with gaps get the bias of their distance", "[unit]") {
  for (const KerpleVariant variant : kAllKerples) {
    Kerple encoding = kerple({.variant = variant});
    CHECK(gaps_agree(encoding, false));
  }
}

TEST_CASE("kerple: all numbers learn, by either form alike, the same token at distance 0 included", "[unit]") {
  for (const KerpleVariant variant : kAllKerples)
    for (const bool causal : {true, false}) {
      Kerple encoding = kerple({.variant = variant});
      check_gradients_agree(encoding, causal);
      for (const Tensor& p : encoding.parameters()) CHECK(p.grad().isfinite().all().item<bool>());
    }
}

TEST_CASE("kerple: distance 0 moves no exponent", "[unit]") {
  for (const KerpleVariant variant : {KerpleVariant::power, KerpleVariant::log3}) {
    Kerple encoding = kerple({.variant = variant});
    const AttentionPass self = last_rows(1, 1);
    dense_bias(*encoding.scores(self), self).sum().backward();
    CHECK(encoding.named_parameters()["p"].grad().abs().max().item<double>() == 0.0);
  }
}

TEST_CASE("kerple: a multiplied score is exp(-a' d^p') of the content plus the bias", "[unit]") {
  Kerple encoding = kerple({.multiplicative = true});
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, double>>{{"a", 0.5}, {"p", 2.0}, {"weight_a", 0.25}, {"weight_p", 1.5}})
    set_parameter(encoding, name, at::full({2}, value));
  const Tensor found = scored(encoding, at::full({1, 2, 3, 3}, 3.0)).detach();
  CHECK(found[0][0][2][2].item<double>() == Approx(3.0));
  CHECK(found[0][1][2][1].item<double>() == Approx(3.0 * std::exp(-0.25) - 2.0 * std::log(1.5)));
  CHECK(found[0][1][2][0].item<double>() == Approx(3.0 * std::exp(-0.25 * std::pow(2.0, 1.5)) - 2.0 * std::log(2.0)));
}

TEST_CASE("kerple: a multiplied score cannot stand beside a cap", "[unit]") {
  PositionFacts capped = small_facts();
  capped.softcap = true;
  CHECK_THROWS_WITH(Kerple({.multiplicative = true}, capped),
                    Catch::StartsWith("kerple: multiplicative") && Catch::Contains("model.attention.softcap"));
  CHECK_NOTHROW(Kerple({}, capped));
}

TEST_CASE("kerple: a multiplied score reads content and has no form by offset", "[unit]") {
  Kerple encoding = kerple({.multiplicative = true});
  const auto bias = encoding.scores(last_rows(3, 3));
  CHECK(bias->reads_content());
  CHECK_FALSE(bias->by_offset().has_value());
  CHECK_FALSE(kerple({}).scores(last_rows(3, 3))->reads_content());
}

TEST_CASE("kerple: numbers outside of their bounds count as the bound, and come back in", "[unit]") {
  Kerple encoding = kerple({.variant = KerpleVariant::power});
  set_parameter(encoding, "a", at::tensor({-3.0, 1.0}, at::kFloat));
  set_parameter(encoding, "p", at::tensor({1.0, 5.0}, at::kFloat));
  const AttentionPass pass = last_rows(1, 4);
  const auto gradients = [&](double sign) {
    encoding.zero_grad();
    const Tensor dense = dense_bias(*encoding.scores(pass), pass);
    CHECK(dense[0][0][0][0].item<double>() == Approx(-0.01 * 3.0));
    CHECK(dense[0][1][0][0].item<double>() == Approx(-9.0));
    (dense.sum() * sign).backward();
    return std::pair{encoding.named_parameters()["a"].grad()[0][0].item<double>(),
                     encoding.named_parameters()["p"].grad()[0][1].item<double>()};
  };
  // A larger bias means a smaller a and p: a step towards that is against -bias' gradient.
  const auto [a_out, p_in] =
      gradients(-1.0);  // descent raises the penalty's opposite: a would fall further, p fall back
  const auto [a_in, p_out] = gradients(1.0);
  CHECK(a_out == 0.0);
  CHECK(p_in > 0.0);
  CHECK(a_in < 0.0);
  CHECK(p_out == 0.0);
}

TEST_CASE("kerple: each layer has numbers of its own, drawn as in the paper", "[unit]") {
  Kerple encoding = kerple({}, 64, 2);
  AttentionPass first = last_rows(1, 3), second = first;
  second.layer = 1;
  CHECK_FALSE(close(dense_bias(*encoding.scores(first), first).detach(),
                    dense_bias(*encoding.scores(second), second).detach(), Tolerance::fp32));
  const Tensor a = encoding.named_parameters()["a"], p = encoding.named_parameters()["p"];
  CHECK(a.max().item<double>() <= 1.0);
  CHECK(p.max().item<double>() > 1.5);
  CHECK(p.max().item<double>() <= 2.0);
  CHECK(a.min().item<double>() >= 0.01);
}

}  // namespace ordo::test
