// SPDX-License-Identifier: Apache-2.0
#include "ordo/attention/flash.h"

#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>

#include "ordo/cuda/backend.h"
#include "ordo/ops/device.h"
#include "ordo/ops/type_name.h"

namespace ordo {

namespace {

constexpr int64_t kWidest = 256, kWidestEverywhere = 192, kWidthStep = 8;
constexpr int kLeastCapability = 80;

bool packed(const Mask& mask) { return mask.q_segment.defined(); }

std::optional<std::string> flash_refuses_place(const AttentionCall& call, const FlashPlace& place) {
  if (!place.cuda) return "it runs on CUDA only";
  if (place.capability < kLeastCapability)
    return fmt::format("it needs a GPU of capability 8.0 (sm_80) or newer; this one is sm_{}", place.capability);
  const bool roomy = place.capability == 80 || place.capability == 90 ||
                     place.capability == 100;  // shared memory of the data centre's GPUs
  const int64_t E = call.q.size(3);
  if (E > kWidestEverywhere && !roomy)
    return fmt::format("heads wider than {} do not fit this GPU (sm_{}); these have {}", kWidestEverywhere,
                       place.capability, E);
  return std::nullopt;
}

std::optional<std::string> flash_refuses_tensors(const AttentionCall& call) {
  const auto type = call.q.scalar_type();
  if (type != at::kBFloat16 && type != at::kHalf)
    return fmt::format("it computes in bf16 or fp16, not in {}", type_name(type));
  if (call.k.scalar_type() != type || call.v.scalar_type() != type)
    return "queries, keys and values must be of one type";
  const int64_t E = call.q.size(3);
  if (call.v.size(3) != E) return "values must be as wide as queries";
  if (E > kWidest || E % kWidthStep != 0)
    return fmt::format("heads must have a width of at most {} and divisible by {}; these have {}", kWidest, kWidthStep,
                       E);
  return std::nullopt;
}

std::optional<std::string> flash_refuses_mask(const AttentionCall& call) {
  const Mask& mask = call.mask;
  const int64_t Lq = call.q.size(2), Lk = call.k.size(2), end = mask.offset + Lq;
  if (mask.keys.defined()) return "it has no padding mask; packed documents need none";
  if (mask.prefix > 0) return "it has no prefix that all see";
  if (packed(mask)) {
    if (!mask.k_segment.is_same(mask.q_segment)) return "packed documents must be the same for queries and keys";
    if (mask.offset != 0 || Lq != Lk) return "packed documents must stand whole, without a cache";
  }
  if (mask.causal && end > Lk) return "some queries stand after the last key";
  if (mask.window && !mask.causal && end != Lk) return "without causality a window must end where the keys end";
  return std::nullopt;
}

// [B, H, L, E] -> [B, L, H, E], the layout of the kernel; the width must be contiguous.
Tensor flash_layout(const Tensor& t) {
  const Tensor turned = t.transpose(1, 2);
  return turned.stride(-1) == 1 ? turned : turned.contiguous();
}

}  // namespace

std::optional<std::string> flash_refuses(const AttentionCall& call, const FlashPlace& place) {
  if (call.want_weights) return "it does not give attention weights";
  if (call.bias) return "it takes no bias";
  if (call.value_term) return "it takes no value terms";
  if (call.softcap) return "it has no softcap";
  if (call.dropout > 0.0) return "its dropout cannot be drawn from a key";
  if (auto why = flash_refuses_tensors(call)) return why;
  if (auto why = flash_refuses_mask(call)) return why;
  return flash_refuses_place(call, place);
}

Tensor document_starts(const Tensor& segments) {
  const auto [B, L] = sizes<2>(segments, "segments [B, L]");
  const Tensor first = at::ones({B, L}, segments.options().dtype(at::kBool));
  if (L > 1) first.slice(1, 1).copy_(segments.slice(1, 1).ne(segments.slice(1, 0, L - 1)));
  const auto int32 = segments.options().dtype(at::kInt);
  return at::cat({at::nonzero(first.flatten()).squeeze(1).to(at::kInt), at::full({1}, B * L, int32)});
}

Tensor flash_attend(const AttentionCall& call) {
  const Mask& mask = call.mask;
  const auto [B, H, Lq, E] = sizes<4>(call.q, "q [B, H, Lq, E]");
  // The causal form is aligned to the last key; what stands after the last query nobody sees.
  const int64_t Lk = mask.causal ? mask.offset + Lq : call.k.size(2);
  Tensor q = flash_layout(call.q), k = flash_layout(call.k.slice(2, 0, Lk)), v = flash_layout(call.v.slice(2, 0, Lk));
  std::optional<Tensor> starts;
  if (packed(mask)) {
    // Rows end to end, one document after the other. Counting them makes the host wait for the device.
    starts = document_starts(mask.q_segment.expand({B, Lq}));
    q = q.flatten(0, 1), k = k.flatten(0, 1), v = v.flatten(0, 1);
  }
  std::optional<int64_t> backwards, forwards;  // how many keys beside its own a query sees
  if (mask.window) {
    backwards = *mask.window - 1;
    forwards = mask.causal ? 0 : *mask.window - 1;
  }
  const Tensor out =
      std::get<0>(at::_flash_attention_forward(q, k, v, starts, starts, Lq, Lk, /*dropout_p=*/0.0, mask.causal,
                                               /*return_debug_mask=*/false, call.scale, backwards, forwards));
  return out.reshape({B, Lq, H, E}).transpose(1, 2);
}

FlashKernel::FlashKernel(const Config&, const KernelFacts&) {}
void fields(Fields&, FlashKernel::Config&) {}

KernelTraits FlashKernel::traits() const {
  return {.places = {.input = true, .query_key = true, .scores = false, .values = false}};
}

std::optional<std::string> FlashKernel::refuses(const AttentionCall& call) const {
  FlashPlace place;
  if (call.q.is_cuda() && cuda_backend() != nullptr) place = {true, cuda_backend()->capability(call.q.get_device())};
  return flash_refuses(call, place);
}

Attended FlashKernel::run(const AttentionCall& call) {
  if (const auto why = refuses(call)) {
    throw KernelRefusal(fmt::format("attention kernel flash cannot serve this model here: {}; use kernel: auto", *why));
  }
  return {flash_attend(call)};
}

}  // namespace ordo
