// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/attention/tiled.h"

#include <ATen/Parallel.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>

#include <limits>

#include "attention/kernel_case.h"
#include "ordo/attention/cpu_strips.h"

using ordo::Mask;
using ordo::Tensor;
using ordo::test::agrees_with_eager;
using ordo::test::close;
using ordo::test::KernelCase;
using ordo::test::KernelInputs;
using ordo::test::noise;
using ordo::test::run_case;
using ordo::test::same_bytes;
using ordo::test::Tolerance;

namespace {
// Every form a bias can take, and none.
const std::vector<std::string> kForms{"none", "alibi", "offset_table", "content_table", "key_gate"};

Mask causal_mask() { return {.causal = true}; }

// Row 0 padded on the left, row 1 on the right.
Mask padded_mask(int64_t L, bool causal) {
  Tensor keys = at::ones({2, L}, at::kBool);
  keys[0].slice(0, 0, L / 3).fill_(false);
  keys[1].slice(0, L - L / 4).fill_(false);
  return {.causal = causal, .keys = keys};
}

// Two documents in row 0, three in row 1.
Mask packed_mask(int64_t L) {
  Tensor segments = at::ones({2, L}, at::kLong);
  segments[0].slice(0, L / 2).fill_(2);
  segments[1].slice(0, L / 4).fill_(5);
  segments[1].slice(0, L - 3).fill_(3);
  return {.causal = true, .q_segment = segments, .k_segment = segments};
}
}  // namespace

TEST_CASE("tiled: causal outputs and gradients equal eager's at every length around a strip", "[unit]") {
  for (const std::string& form : kForms)
    for (const int64_t L : {1, 2, 31, 33, 63, 64, 65, 127, 200}) {
      INFO(form << ", L = " << L);
      CHECK(agrees_with_eager("tiled", {.encoding = form, .Lq = L, .Lk = L, .mask = causal_mask()}));
    }
}

TEST_CASE("tiled: causal rows long enough for full strips equal eager's", "[unit]") {
  for (const char* const form : {"none", "offset_table"})
    CHECK(agrees_with_eager("tiled", {.encoding = form, .B = 1, .Lq = 300, .Lk = 300, .mask = causal_mask()}));
}

TEST_CASE("tiled: without causality outputs and gradients equal eager's, with more keys or more queries too",
          "[unit]") {
  for (const char* const form : {"none", "alibi", "offset_table", "content_table"})
    for (const auto& [Lq, Lk] : {std::pair{70, 70}, {20, 130}, {130, 20}, {1, 65}}) {
      INFO(form << ", " << Lq << " queries, " << Lk << " keys");
      CHECK(agrees_with_eager("tiled", {.encoding = form, .Lq = Lq, .Lk = Lk}));
    }
}

TEST_CASE("tiled: groups of query heads share keys", "[unit]") {
  for (const std::string& form : kForms)
    for (const int64_t G : {1, 2}) {
      INFO(form << ", " << G << " key heads");
      CHECK(agrees_with_eager("tiled", {.encoding = form, .G = G, .Lq = 70, .Lk = 70, .mask = causal_mask()}));
    }
}

TEST_CASE("tiled: windows, a prefix and cached keys hide what they hide under eager", "[unit]") {
  std::vector<Mask> masks(5, causal_mask());
  masks[0].window = 17;
  masks[1].prefix = 30;
  masks[2].prefix = 30, masks[2].window = 5;
  masks[3].offset = 40;
  masks[4].causal = false, masks[4].window = 9;
  for (const char* const form : {"none", "alibi", "offset_table", "content_table"})
    for (size_t i = 0; i < masks.size(); ++i) {
      INFO(form << ", mask " << i);
      CHECK(agrees_with_eager("tiled", {.encoding = form, .Lq = 80, .Lk = 80 + masks[i].offset, .mask = masks[i]}));
    }
}

TEST_CASE("tiled: padding and packed documents hide what they hide under eager", "[unit]") {
  for (const std::string& form : kForms)
    for (const bool consecutive : {true, false}) {
      INFO(form << (consecutive ? "" : ", gathered positions"));
      CHECK(agrees_with_eager(
          "tiled", {.encoding = form, .Lq = 90, .Lk = 90, .mask = padded_mask(90, true), .consecutive = consecutive}));
      CHECK(agrees_with_eager(
          "tiled", {.encoding = form, .Lq = 90, .Lk = 90, .mask = packed_mask(90), .consecutive = consecutive}));
      if (form != "key_gate")
        CHECK(agrees_with_eager(
            "tiled",
            {.encoding = form, .Lq = 70, .Lk = 70, .mask = padded_mask(70, false), .consecutive = consecutive}));
    }
}

TEST_CASE("tiled: padding with holes and documents in two pieces hide what they hide under eager", "[unit]") {
  Mask holes = padded_mask(70, true), pieces = packed_mask(70);
  holes.keys.slice(1, 30, 35).fill_(false);
  pieces.q_segment.slice(1, 60).fill_(1);
  for (const std::string& form : kForms) {
    INFO(form);
    CHECK(agrees_with_eager("tiled", {.encoding = form, .Lq = 70, .Lk = 70, .mask = holes}));
    CHECK(agrees_with_eager("tiled", {.encoding = form, .Lq = 70, .Lk = 70, .mask = pieces}));
  }
}

TEST_CASE("tiled: rows and whole strips that see no key give zeros and finite gradients", "[unit]") {
  Mask mask = causal_mask();
  mask.keys = at::ones({2, 140}, at::kBool);
  mask.keys[0].fill_(false);
  mask.keys[1].slice(0, 0, 100).fill_(false);
  for (const std::string& form : kForms) {
    INFO(form);
    const KernelCase c{.encoding = form, .Lq = 140, .Lk = 140, .mask = mask};
    CHECK(agrees_with_eager("tiled", c));
    const auto outcome = run_case("tiled", c);
    CHECK(outcome.out[0].eq(0).all().item<bool>());
    CHECK(outcome.out[1].slice(1, 0, 100).eq(0).all().item<bool>());
    for (const Tensor& g : outcome.gradients) CHECK(g.isfinite().all().item<bool>());
  }
}

TEST_CASE("tiled: a row whose window holds nothing but padding gives zeros", "[unit]") {
  Mask mask{.causal = true, .window = 5};
  mask.keys = at::ones({2, 70}, at::kBool);
  mask.keys.slice(1, 10, 60).fill_(false);
  for (const char* const form : {"none", "key_gate"}) {
    INFO(form);
    const KernelCase c{.encoding = form, .Lq = 70, .Lk = 70, .mask = mask};
    REQUIRE(ordo::attend_on_cpu(KernelInputs(c).call()).has_value());
    CHECK(agrees_with_eager("tiled", c));
    CHECK(run_case("tiled", c).out.slice(2, 14, 60).eq(0).all().item<bool>());
  }
}

TEST_CASE("tiled: dropout drops what eager drops, whatever the path", "[unit]") {
  for (const std::string& form : kForms)
    for (const Mask& mask : {causal_mask(), padded_mask(90, true)}) {
      INFO(form);
      CHECK(agrees_with_eager("tiled", {.encoding = form, .G = 2, .Lq = 90, .Lk = 90, .mask = mask, .dropout = 0.3}));
    }
}

TEST_CASE("tiled: a softcap is the same function as under eager", "[unit]") {
  for (const std::string& form : kForms)
    CHECK(agrees_with_eager("tiled", {.encoding = form, .Lq = 70, .Lk = 70, .mask = causal_mask(), .softcap = 0.7}));
}

TEST_CASE("tiled: fp64 calls agree with eager to fp64 accuracy", "[unit]") {
  for (const std::string& form : kForms) {
    INFO(form);
    CHECK(agrees_with_eager(
        "tiled",
        {.encoding = form, .G = 2, .Lq = 70, .Lk = 70, .mask = causal_mask(), .dropout = 0.2, .type = at::kDouble},
        Tolerance::fp64, 1e-10));
  }
}

TEST_CASE("tiled: fp64 gradients are those of finite differences", "[unit]") {
  for (const std::string& form : kForms) {
    INFO(form);
    const KernelInputs inputs({.encoding = form,
                               .B = 1,
                               .G = 2,
                               .Lq = 9,
                               .Lk = 9,
                               .mask = causal_mask(),
                               .dropout = 0.2,
                               .type = at::kDouble});
    const auto kernel = ordo::kernels().build("tiled", {});
    const Tensor weights = noise({1, 4, 9, 8}, 6, at::kDouble);
    const auto value = [&] { return (kernel->run(inputs.call()).out * weights).sum(); };
    value().backward();
    for (const Tensor& leaf : inputs.leaves()) {
      if (!leaf.grad().defined()) continue;
      const at::NoGradGuard plain;
      const Tensor direction = noise(leaf.sizes(), 7, at::kDouble);
      constexpr double kStep = 1e-5;
      leaf.add_(direction, kStep);
      const double ahead = value().item<double>();
      leaf.add_(direction, -2 * kStep);
      const double behind = value().item<double>();
      leaf.add_(direction, kStep);
      CHECK((ahead - behind) / (2 * kStep) ==
            Approx((leaf.grad() * direction).sum().item<double>()).epsilon(1e-7).margin(1e-9));
    }
  }
}

TEST_CASE("tiled: bf16 and fp16 calls are as near to fp32 as rounding allows", "[unit]") {
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf})
    for (const char* const form : {"none", "offset_table", "content_table"}) {
      INFO(form << " in " << c10::toString(type));
      const auto outcome =
          run_case("tiled", {.encoding = form, .Lq = 70, .Lk = 70, .mask = causal_mask(), .type = type});
      CHECK(outcome.out.scalar_type() == type);
      CHECK(agrees_with_eager("tiled", {.encoding = form, .Lq = 70, .Lk = 70, .mask = causal_mask(), .type = type},
                              Tolerance::bf16, 2e-2));
    }
}

TEST_CASE("tiled: outputs and gradients do not depend on the number of threads, to the bit", "[unit]") {
  const int threads = at::get_num_threads();
  const KernelCase c{
      .encoding = "offset_table", .B = 3, .G = 2, .Lq = 90, .Lk = 90, .mask = causal_mask(), .dropout = 0.1};
  at::set_num_threads(1);
  const auto alone = run_case("tiled", c);
  at::set_num_threads(3);
  const auto together = run_case("tiled", c);
  at::set_num_threads(threads);
  CHECK(same_bytes(alone.out, together.out));
  for (size_t i = 0; i < alone.gradients.size(); ++i) CHECK(same_bytes(alone.gradients[i], together.gradients[i]));
}

TEST_CASE("tiled: a NaN among the scores reaches the output instead of counting as hidden", "[unit]") {
  const KernelInputs inputs({.Lq = 5, .Lk = 5, .mask = causal_mask()});
  const at::NoGradGuard plain;
  inputs.k.fill_(std::numeric_limits<float>::quiet_NaN());
  CHECK(ordo::kernels().build("tiled", {})->run(inputs.call()).out.isnan().all().item<bool>());
}

TEST_CASE(
    "tiled: the output is stored with the heads of a token side by side, so that the next projection copies nothing",
    "[unit]") {
  const KernelInputs inputs({.Lq = 70, .Lk = 70, .mask = causal_mask()});
  CHECK(ordo::kernels().build("tiled", {})->run(inputs.call()).out.transpose(1, 2).is_contiguous());
}

TEST_CASE("tiled: keys and values that repeat one row without copying it are read as what they show", "[unit]") {
  const at::NoGradGuard plain;
  auto call = KernelInputs({.Lq = 70, .Lk = 70, .mask = causal_mask()}).call();
  call.v = call.v.slice(2, 0, 1).expand_as(call.v);
  call.k = call.k.transpose(2, 3).contiguous().transpose(2, 3);
  CHECK(close(ordo::kernels().build("tiled", {})->run(call).out, call.v, Tolerance::fp32_sum));
}

TEST_CASE("tiled: every form over keys or offsets takes the fast path on the CPU, padded or not", "[unit]") {
  Mask holes = padded_mask(70, true);
  holes.keys.slice(1, 30, 35).fill_(false);
  for (const std::string& form : kForms)
    for (const Mask& mask : {causal_mask(), holes, packed_mask(70)}) {
      INFO(form);
      CHECK(ordo::attend_on_cpu(KernelInputs({.encoding = form, .Lq = 70, .Lk = 70, .mask = mask}).call()).has_value());
    }
}

TEST_CASE("tiled: content at gathered positions, and a softcap, take the general path", "[unit]") {
  const auto fast = [](const KernelCase& c) { return ordo::attend_on_cpu(KernelInputs(c).call()).has_value(); };
  CHECK_FALSE(fast({.encoding = "content_table", .mask = causal_mask(), .consecutive = false}));
  CHECK_FALSE(fast({.encoding = "none", .mask = causal_mask(), .softcap = 1.0}));
}
