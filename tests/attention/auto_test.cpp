// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/ops/ones.h>

#include "attention/kernel_case.h"

using Catch::Matchers::Contains;
using ordo::AttentionCall;
using ordo::AutoKernel;
using ordo::Mask;
using ordo::test::agrees_with_eager;
using ordo::test::KernelCase;
using ordo::test::KernelInputs;

namespace {
AutoKernel::Verdict choice_for(const KernelCase& c, bool want_weights = false) {
  AttentionCall call = KernelInputs(c).call();
  call.want_weights = want_weights;
  return AutoKernel({}, {}).choose(call);
}
// Whether the encoding serves stacks of the case's kind; it says no when it is built.
bool fits_stack(const KernelCase& c) {
  try {
    KernelInputs{c};
    return true;
  } catch (const ordo::ConfigError&) {
    return false;
  }
}
}  // namespace

TEST_CASE("auto: takes tiled on the CPU, for many queries and for one", "[unit]") {
  CHECK(choice_for({.mask = {.causal = true}}).kind == "tiled");
  CHECK(choice_for({.encoding = "content_table", .mask = {.causal = true}}).kind == "tiled");
  CHECK(choice_for({.Lq = 1, .Lk = 20, .mask = {.causal = true, .offset = 19}}).kind == "tiled");
}

TEST_CASE("auto: falls to eager when weights are wanted, and says why the others would not", "[unit]") {
  const auto verdict = choice_for({.mask = {.causal = true}}, /*want_weights=*/true);
  CHECK(verdict.kind == "eager");
  REQUIRE_FALSE(verdict.refused.empty());
  for (const auto& [kind, why] : verdict.refused) CHECK_FALSE(why.empty());
}

TEST_CASE("auto: equals eager for every encoding", "[unit]") {
  for (const std::string& encoding : ordo::test::all_encodings()) {
    int served = 0;
    for (const bool causal : {true, false}) {
      // In fp64: some gradients are zero by theory, and fp32 would show the rounding of either kernel.
      const KernelCase c{.encoding = encoding, .Lq = 40, .Lk = 40, .mask = {.causal = causal}, .type = at::kDouble};
      INFO(encoding << (causal ? ", causal" : ", two-sided"));
      if (!fits_stack(c)) continue;
      ++served;
      CHECK(agrees_with_eager("auto", c, ordo::test::Tolerance::fp64, 1e-9));
    }
    INFO(encoding);
    CHECK(served > 0);
  }
}

TEST_CASE("kernels: a pair that can never work is named with both sides and a way out", "[unit]") {
  const auto sdpa = ordo::kernels().build("sdpa", {});
  const ordo::PositionTraits shaw{.places = {.scores = true, .values = true}};
  const auto why = ordo::never_works(sdpa->traits(), "sdpa", shaw, "shaw");
  REQUIRE(why.has_value());
  CHECK_THAT(*why, Contains("sdpa") && Contains("values") && Contains("shaw") && Contains("use auto"));
  CHECK_FALSE(ordo::never_works(ordo::kernels().build("tiled", {})->traits(), "tiled", shaw, "shaw").has_value());
}
