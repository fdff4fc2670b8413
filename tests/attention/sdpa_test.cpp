// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/attention/sdpa.h"

#include <ATen/ops/ones.h>

#include "attention/kernel_case.h"
#include "support/thrown.h"

using Catch::Matchers::Contains;
using ordo::AttentionCall;
using ordo::Mask;
using ordo::Tensor;
using ordo::test::agrees_with_eager;
using ordo::test::close;
using ordo::test::KernelCase;
using ordo::test::KernelInputs;
using ordo::test::run_case;
using ordo::test::Tolerance;

namespace {
std::string refusal(const KernelCase& c) {
  return ordo::kernels().build("sdpa", {})->refuses(KernelInputs(c).call()).value_or("");
}
ordo::test::Closeness without_gradients_agrees(const KernelCase& c, Tolerance tolerance = Tolerance::fp32_sum) {
  const at::NoGradGuard plain;
  const AttentionCall call = KernelInputs(c).call();
  const auto sdpa = ordo::kernels().build("sdpa", {});
  if (const auto why = sdpa->refuses(call)) return {false, "refused: " + *why};
  return close(sdpa->run(call).out, ordo::kernels().build("eager", {})->run(call).out, tolerance);
}
}  // namespace

TEST_CASE("sdpa: causal, open and cached calls equal eager's, gradients too", "[unit]") {
  for (const int64_t L : {1, 2, 65, 130}) {
    CHECK(agrees_with_eager("sdpa", {.Lq = L, .Lk = L, .mask = {.causal = true}}));
    CHECK(agrees_with_eager("sdpa", {.G = 2, .Lq = L, .Lk = 40}));
    CHECK(agrees_with_eager("sdpa", {.Lq = L, .Lk = L + 30, .mask = {.causal = true, .offset = 30}}));
  }
}

TEST_CASE("sdpa: windows, prefixes and padding are dense masks while they are small", "[unit]") {
  Mask padded{.causal = true};
  padded.keys = at::ones({2, 30}, at::kBool);
  padded.keys[0].slice(0, 0, 12).fill_(false);
  padded.keys[1].fill_(false);
  for (const Mask& mask :
       {Mask{.causal = true, .window = 4}, Mask{.causal = true, .prefix = 7}, Mask{.window = 3}, padded})
    CHECK(agrees_with_eager("sdpa", {.G = 2, .Lq = 30, .Lk = 30, .mask = mask}));
  CHECK_THAT(refusal({.B = 1, .H = 1, .G = 1, .Lq = 2000, .Lk = 2000, .E = 1, .mask = {.causal = true, .window = 4}}),
             Contains("dense mask"));
}

TEST_CASE("sdpa: a row that sees no key gives zeros and finite gradients", "[unit]") {
  Mask mask;
  mask.keys = at::ones({2, 20}, at::kBool);
  mask.keys[0].fill_(false);
  const auto outcome = run_case("sdpa", {.mask = mask});
  CHECK(outcome.out[0].eq(0).all().item<bool>());
  for (const Tensor& g : outcome.gradients) CHECK(g.isfinite().all().item<bool>());
}

TEST_CASE("sdpa: a bias over keys that wants no gradient joins causality on the fused path, alibi too", "[unit]") {
  CHECK(without_gradients_agrees({.encoding = "key_gate", .G = 2, .Lq = 70, .Lk = 70, .mask = {.causal = true}}));
  CHECK(agrees_with_eager("sdpa", {.encoding = "alibi", .Lq = 70, .Lk = 70, .mask = {.causal = true}}));
}

TEST_CASE("sdpa: a bias over offsets that wants no gradient is a view of a vector", "[unit]") {
  for (const Mask& mask : {Mask{.causal = true}, Mask{}, Mask{.causal = true, .window = 9}, Mask{.window = 9}})
    for (const int64_t L : {1, 30, 600}) {
      INFO("L = " << L << ", causal " << mask.causal << ", window " << mask.window.value_or(0));
      CHECK(without_gradients_agrees({.encoding = "offset_table", .B = 1, .G = 2, .Lq = L, .Lk = L, .mask = mask}));
    }
  CHECK(without_gradients_agrees(
      {.encoding = "offset_table", .Lq = 5, .Lk = 25, .mask = {.causal = true, .offset = 20}}));
  CHECK(without_gradients_agrees({.encoding = "offset_table", .Lq = 5, .Lk = 25}));
}

TEST_CASE("sdpa: a bias of a bf16 call would be rounded, so it is refused, and tiled adds it whole", "[unit]") {
  for (const int64_t L : {30, 512}) {
    const KernelCase half{
        .encoding = "alibi", .B = 1, .Lq = L, .Lk = L, .mask = {.causal = true}, .type = at::kBFloat16};
    CHECK_THAT(refusal(half), Contains("round the bias"));
    const at::NoGradGuard plain;
    const AttentionCall call = KernelInputs(half).call();
    CHECK(close(ordo::kernels().build("tiled", {})->run(call).out, ordo::kernels().build("eager", {})->run(call).out,
                Tolerance::bf16));
  }
  CHECK(refusal({.mask = {.causal = true}, .type = at::kBFloat16}).empty());
}

TEST_CASE("sdpa: a bias is refused for what it is: of content, in need of whole rows, learned, or beside padding",
          "[unit]") {
  struct Counting final : ordo::ScoreBias {
    explicit Counting(bool whole_rows) : whole(whole_rows) {}
    Tensor tile(const ordo::Tile&, const Tensor&, const Tensor&) const override { return {}; }
    bool reads_content() const override { return true; }
    bool whole_rows() const override { return whole; }
    bool whole;
  };
  const auto why = [](bool whole_rows) {
    ordo::AttentionCall call = KernelInputs({.mask = {.causal = true}}).call();
    call.bias = std::make_shared<Counting>(whole_rows);
    return ordo::kernels().build("sdpa", {})->refuses(call).value_or("");
  };
  CHECK_THAT(why(/*whole_rows=*/false), Contains("queries or keys themselves"));
  CHECK_THAT(why(/*whole_rows=*/true), Contains("all keys of a row"));
  CHECK_THAT(refusal({.encoding = "offset_table", .mask = {.causal = true}}), Contains("no gradient for a learned"));
  CHECK_THAT(refusal({.encoding = "alibi", .mask = {.causal = true, .prefix = 3}}), Contains("prefix"));
}

TEST_CASE("sdpa: what would leave the fused path or be inexact is refused in words", "[unit]") {
  CHECK_THAT(refusal({.dropout = 0.1}), Contains("dropout"));
  CHECK_THAT(refusal({.softcap = 5.0}), Contains("softcap"));
  CHECK_THAT(refusal({.encoding = "content_table"}), Contains("value term"));
  CHECK_THAT(refusal({.encoding = "offset_table", .mask = {.causal = true}}), Contains("gradient"));
  CHECK(refusal({.mask = {.causal = true}}).empty());
}
