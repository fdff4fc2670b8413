// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/attention/flash.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <limits>
#include <tuple>
#include <vector>

#include "ordo/attention/eager.h"
#include "ordo/ops/draw.h"
#include "support/devices.h"
#include "support/tolerance.h"

using Catch::Matchers::Contains;
using ordo::AttentionCall;
using ordo::FlashPlace;
using ordo::Mask;
using ordo::Tensor;
using ordo::test::close;
using ordo::test::close_gradient;
using ordo::test::require_gpu;
using ordo::test::same_bytes;
using ordo::test::Tolerance;

namespace {

constexpr FlashPlace kHopper{.cuda = true, .capability = 90};

struct FlashShape {
  int64_t B = 2, H = 4, G = 2, Lq = 6, Lk = 6, E = 64;
};

Tensor drawn(at::IntArrayRef shape, uint64_t key, const at::TensorOptions& options) {
  const Tensor t = at::empty(shape, at::kFloat);
  ordo::draw_normal(t, 1.0, key);
  return t.to(options);
}

AttentionCall flash_call(const FlashShape& s, const Mask& mask, const at::TensorOptions& options = at::kBFloat16) {
  return {.q = drawn({s.B, s.H, s.Lq, s.E}, 1, options),
          .k = drawn({s.B, s.G, s.Lk, s.E}, 2, options),
          .v = drawn({s.B, s.G, s.Lk, s.E}, 3, options),
          .mask = mask,
          .scale = 0.125};
}

std::string flash_refusal(const AttentionCall& call, const FlashPlace& place = kHopper) {
  return ordo::flash_refuses(call, place).value_or("none");
}

Mask packed_mask(const Tensor& segments) { return {.causal = true, .q_segment = segments, .k_segment = segments}; }

}  // namespace

TEST_CASE("flash: causal, windowed, packed and cached calls are taken on a GPU", "[unit]") {
  CHECK(flash_refusal(flash_call({}, {})) == "none");
  CHECK(flash_refusal(flash_call({}, {.causal = true})) == "none");
  CHECK(flash_refusal(flash_call({}, {.causal = true, .window = 3})) == "none");
  CHECK(flash_refusal(flash_call({.Lq = 1, .Lk = 6}, {.causal = true, .offset = 5})) == "none");
  CHECK(flash_refusal(flash_call({.Lq = 2, .Lk = 9}, {.causal = true, .offset = 3})) ==
        "none");  // a fixed cache: room behind the last query
  CHECK(flash_refusal(flash_call({}, packed_mask(at::ones({2, 6}, at::kLong)))) == "none");
}

TEST_CASE("flash: what the kernel cannot compute is refused in words", "[unit]") {
  AttentionCall call = flash_call({}, {.causal = true});
  call.dropout = 0.1;
  CHECK_THAT(flash_refusal(call), Contains("dropout"));
  call = flash_call({}, {.causal = true});
  call.softcap = 30.0;
  CHECK_THAT(flash_refusal(call), Contains("softcap"));
  call = flash_call({}, {.causal = true});
  call.want_weights = true;
  CHECK_THAT(flash_refusal(call), Contains("weights"));
  CHECK_THAT(flash_refusal(flash_call({}, {.keys = at::ones({2, 6}, at::kBool)})), Contains("padding"));
  CHECK_THAT(flash_refusal(flash_call({}, {.causal = true, .prefix = 2})), Contains("prefix"));
  CHECK_THAT(flash_refusal(flash_call({.Lk = 4}, {.causal = true})), Contains("after the last key"));
  CHECK_THAT(flash_refusal(flash_call({.Lk = 9}, {.window = 3})), Contains("window"));
}

TEST_CASE("flash: types and widths it has no code for are refused in words", "[unit]") {
  CHECK_THAT(flash_refusal(flash_call({}, {}, at::kFloat)), Contains("bf16 or fp16, not in fp32"));
  CHECK_THAT(flash_refusal(flash_call({.E = 36}, {})), Contains("divisible by 8; these have 36"));
  CHECK_THAT(flash_refusal(flash_call({.E = 264}, {})), Contains("at most 256"));
  AttentionCall mixed = flash_call({}, {});
  mixed.k = mixed.k.to(at::kFloat);
  CHECK_THAT(flash_refusal(mixed), Contains("one type"));
}

TEST_CASE("flash: packed documents are refused where keys are not the queries' own", "[unit]") {
  Mask mask = packed_mask(at::ones({2, 6}, at::kLong));
  mask.k_segment = mask.k_segment.clone();
  CHECK_THAT(flash_refusal(flash_call({}, mask)), Contains("the same for queries and keys"));
  Mask later = packed_mask(at::ones({2, 6}, at::kLong));
  later.offset = 3;
  CHECK_THAT(flash_refusal(flash_call({.Lk = 9}, later)), Contains("without a cache"));
}

TEST_CASE("flash: a device that it does not run on is refused in words", "[unit]") {
  CHECK_THAT(flash_refusal(flash_call({}, {}), {}), Contains("CUDA only"));
  CHECK_THAT(flash_refusal(flash_call({}, {}), {.cuda = true, .capability = 75}), Contains("this one is sm_75"));
  CHECK_THAT(flash_refusal(flash_call({.E = 256}, {}), {.cuda = true, .capability = 89}), Contains("wider than 192"));
  CHECK(flash_refusal(flash_call({.E = 256}, {})) == "none");
}

TEST_CASE("flash: a call that it refuses is an error with the reason, not a crash", "[unit]") {
  ordo::FlashKernel kernel({}, {});
  CHECK_THROWS_AS(kernel.run(flash_call({}, {})), ordo::ConfigError);
}

TEST_CASE("flash: packed documents start where the number changes and at each row", "[unit]") {
  const Tensor segments = at::tensor({0, 0, 1, 1, 1, 2, 2, 2}, at::kLong).view({2, 4});
  CHECK(same_bytes(ordo::document_starts(segments), at::tensor({0, 2, 4, 5, 8}, at::kInt)));
}

namespace {
// What FlashAttention-2 documents, in plain words on the CPU: rows and keys end together; a query sees `left` keys
// before its own place and `right` after it (nothing: all); documents see only themselves. q [B, Lq, H, E], or [T, H,
// E] with the documents' starts.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> documented_flash(
    const Tensor& q, const Tensor& k, const Tensor& v, const std::optional<Tensor>& starts,
    const std::optional<Tensor>&, c10::SymInt, c10::SymInt, double, bool causal, bool, std::optional<double> scale,
    std::optional<c10::SymInt> left, std::optional<c10::SymInt> right, const std::optional<Tensor>&,
    const std::optional<Tensor>&) {
  if (starts) {
    std::vector<Tensor> outs;
    for (int64_t d = 0; d + 1 < starts->size(0); ++d) {
      const auto part = [&](const Tensor& t) {
        return t.slice(0, (*starts)[d].item<int64_t>(), (*starts)[d + 1].item<int64_t>()).unsqueeze(0);
      };
      outs.push_back(std::get<0>(documented_flash(part(q), part(k), part(v), {}, {}, 0, 0, 0.0, causal, false, scale,
                                                  left, right, {}, {}))
                         .squeeze(0));
    }
    return {at::cat(outs), {}, {}, {}, {}};
  }
  const int64_t Lq = q.size(1), Lk = k.size(1), H = q.size(2);
  const auto heads_first = [&](const Tensor& t) { return ordo::repeat_groups(t.transpose(1, 2).to(at::kDouble), H); };
  const Tensor place = at::arange(Lq, at::kLong).unsqueeze(1) + (Lk - Lq),
               column = at::arange(Lk, at::kLong).unsqueeze(0);
  Tensor hidden = at::zeros({Lq, Lk}, at::kBool);
  if (left) hidden = hidden.logical_or(column < place - left->expect_int());
  if (causal || right) hidden = hidden.logical_or(column > place + (causal ? 0 : right->expect_int()));
  const Tensor scores = (at::matmul(heads_first(q), heads_first(k).transpose(-1, -2)) * *scale)
                            .masked_fill(hidden, -std::numeric_limits<double>::infinity());
  return {at::matmul(at::softmax(scores, -1), heads_first(v)).transpose(1, 2).to(q.scalar_type()), {}, {}, {}, {}};
}

// A call as flash makes it, answered by the documentation, against the reference kernel.
ordo::test::Closeness documented_equals_eager(const FlashShape& shape, const Mask& mask) {
  const c10::NoGradGuard no_gradients;
  const AttentionCall call = flash_call(shape, mask);
  REQUIRE(flash_refusal(call) == "none");
  return close(ordo::flash_attend(call), ordo::EagerKernel({}, {}).run(call).out, Tolerance::bf16);
}
}  // namespace

TORCH_LIBRARY_IMPL(aten, CPU, library) { library.impl("_flash_attention_forward", documented_flash); }

TEST_CASE("flash: asks for what eager computes, were LibTorch's kernel as documented", "[unit]") {
  CHECK(documented_equals_eager({}, {}));
  CHECK(documented_equals_eager({}, {.causal = true}));
  CHECK(documented_equals_eager({.Lk = 9}, {}));
}

TEST_CASE("flash: asks for the windows that eager computes", "[unit]") {
  for (const int64_t window : {1, 3, 50}) {
    CHECK(documented_equals_eager({}, {.causal = true, .window = window}));
    CHECK(documented_equals_eager({}, {.window = window}));
  }
}

TEST_CASE("flash: asks for what eager computes with keys from a cache", "[unit]") {
  CHECK(documented_equals_eager({.Lq = 1, .Lk = 6}, {.causal = true, .offset = 5}));
  CHECK(documented_equals_eager({.Lq = 3, .Lk = 7}, {.causal = true, .offset = 4}));
  CHECK(documented_equals_eager({.Lq = 3, .Lk = 12}, {.causal = true, .offset = 4}));
  CHECK(documented_equals_eager({.Lq = 3, .Lk = 12}, {.causal = true, .window = 2, .offset = 4}));
}

TEST_CASE("flash: asks for the documents that eager computes", "[unit]") {
  const Tensor segments = at::tensor({0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3}, at::kLong).view({2, 6});
  CHECK(documented_equals_eager({}, packed_mask(segments)));
  Mask windowed = packed_mask(segments);
  windowed.window = 2;
  CHECK(documented_equals_eager({}, windowed));
}

namespace {
struct FlashResult {
  Tensor out, q, k, v;  // and gradients
};
FlashResult through(ordo::AttentionKernel& kernel, AttentionCall call) {
  for (Tensor* t : {&call.q, &call.k, &call.v}) *t = t->detach().requires_grad_(true);
  const Tensor out = kernel.run(call).out;
  out.backward(drawn(out.sizes(), 4, out.options()));
  return {out.detach(), call.q.grad(), call.k.grad(), call.v.grad()};
}

// Against the reference kernel on the same device and numbers.
void check_against_eager(const FlashShape& shape, const Mask& mask, c10::Device gpu) {
  for (const auto type : {at::kBFloat16, at::kHalf}) {
    const AttentionCall call = flash_call(shape, mask, at::TensorOptions(type).device(gpu));
    ordo::FlashKernel flash({}, {});
    ordo::EagerKernel eager({}, {});
    const FlashResult a = through(flash, call), b = through(eager, call);
    CHECK(close(a.out, b.out, Tolerance::bf16));
    CHECK(close_gradient(a.q, b.q, Tolerance::bf16.relative));
    CHECK(close_gradient(a.k, b.k, Tolerance::bf16.relative));
    CHECK(close_gradient(a.v, b.v, Tolerance::bf16.relative));
  }
}
}  // namespace

TEST_CASE("flash: equals eager, gradients included, at every length near a tile's edge", "[gpu]") {
  const auto gpu = require_gpu();
  if (!gpu) return;
  for (const int64_t L : {1, 63, 64, 65, 192, 704, 1088}) {
    check_against_eager({.Lq = L, .Lk = L}, {}, *gpu);
    check_against_eager({.Lq = L, .Lk = L}, {.causal = true}, *gpu);
  }
}

TEST_CASE("flash: equals eager under windows, gradients included", "[gpu]") {
  const auto gpu = require_gpu();
  if (!gpu) return;
  for (const int64_t window : {1, 7, 64, 300}) {
    check_against_eager({.Lq = 200, .Lk = 200}, {.causal = true, .window = window}, *gpu);
    check_against_eager({.Lq = 200, .Lk = 200}, {.window = window}, *gpu);
  }
}

TEST_CASE("flash: equals eager with keys from a cache", "[gpu]") {
  const auto gpu = require_gpu();
  if (!gpu) return;
  check_against_eager({.Lq = 1, .Lk = 130}, {.causal = true, .offset = 129}, *gpu);
  check_against_eager({.Lq = 50, .Lk = 130}, {.causal = true, .offset = 80}, *gpu);
  check_against_eager({.Lq = 50, .Lk = 200}, {.causal = true, .offset = 80}, *gpu);
  check_against_eager({.Lq = 50, .Lk = 130}, {.causal = true, .window = 20, .offset = 80}, *gpu);
}

TEST_CASE("flash: equals eager on packed documents", "[gpu]") {
  const auto gpu = require_gpu();
  if (!gpu) return;
  Tensor segments = at::ones({2, 150}, at::kLong);
  segments[0].slice(0, 40, 150).fill_(2);
  segments[1].slice(0, 149, 150).fill_(2);
  segments = segments.to(*gpu);
  check_against_eager({.Lq = 150, .Lk = 150}, packed_mask(segments), *gpu);
  Mask windowed = packed_mask(segments);
  windowed.window = 16;
  check_against_eager({.Lq = 150, .Lk = 150}, windowed, *gpu);
}
