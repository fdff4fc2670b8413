// SPDX-License-Identifier: Apache-2.0
#include "ordo/attention/eager.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tanh.h>

#include <limits>

#include "ordo/ops/autocast.h"
#include "ordo/ops/draw.h"

namespace ordo {

namespace {
// Softmax over the visible keys; rows without one give zeros.
Tensor masked_softmax(const Tensor& scores, const Mask& mask, const Tile& all) {
  if (mask.shows(all)) return at::softmax(scores, -1);
  const Tensor hidden = mask.tile(all, scores.device()).logical_not();
  const Tensor none = hidden.all(-1, /*keepdim=*/true);
  const Tensor masked = scores.masked_fill(hidden, -std::numeric_limits<double>::infinity()).masked_fill(none, 0.0);
  return at::softmax(masked, -1).masked_fill(none, 0.0);
}
}  // namespace

EagerKernel::EagerKernel(const Config&, const KernelFacts&) {}
void fields(Fields&, EagerKernel::Config&) {}

KernelTraits EagerKernel::traits() const {
  return {.places = {.input = true, .query_key = true, .scores = true, .values = true}, .weights = true};
}

std::optional<std::string> EagerKernel::refuses(const AttentionCall&) const { return std::nullopt; }

Attended EagerKernel::run(const AttentionCall& call) {
  const AutocastScope off(call.q.device().type(), no_autocast());
  const auto [B, H, Lq, E] = sizes<4>(call.q, "q [B, H, Lq, E]");
  const int64_t Lk = call.k.size(2);
  const auto wide = accumulate_type(call.q.scalar_type());
  const Tensor q = call.q.to(wide), k = repeat_groups(call.k.to(wide), H), v = repeat_groups(call.v.to(wide), H);
  const Tile all{0, Lq, 0, Lk};
  Tensor scores = at::matmul(q, k.transpose(-1, -2)) * call.scale;
  if (call.softcap) scores = at::tanh(scores / *call.softcap) * *call.softcap;
  if (call.bias) scores = scores + call.bias->tile(all, q, k);
  const Tensor weights = masked_softmax(scores, call.mask, all);
  const Tensor dropped = call.dropout > 0.0 ? dropout(weights, call.dropout, call.draw) : weights;
  Tensor out = at::matmul(dropped, v);
  if (call.value_term) out = out + call.value_term->tile(all, dropped);
  return {out.to(call.q.scalar_type()), call.want_weights ? weights : Tensor()};
}

}  // namespace ordo
