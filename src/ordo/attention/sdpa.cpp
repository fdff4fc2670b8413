// SPDX-License-Identifier: Apache-2.0
#include "ordo/attention/sdpa.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "ordo/ops/autocast.h"

namespace ordo {

namespace {
constexpr int64_t kDenseLimit = int64_t{1} << 20;  // entries of a dense mask that cost less than they explain
constexpr int64_t kQueryBlock =
    512;  // rows a call when the bias is a vector over offsets: the hidden half is not computed
constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

bool wants_gradient(const Tensor& t) { return at::GradMode::is_enabled() && t.requires_grad(); }

struct Shape {
  explicit Shape(const AttentionCall& c) : Lq(c.q.size(2)), Lk(c.k.size(2)), all{0, Lq, 0, Lk} {}
  int64_t Lq, Lk;
  Tile all;
};

// What `is_causal` means to SDPA: row i sees the columns up to i.
bool plainly_causal(const Mask& m) { return m.causal && m.offset == 0 && !m.window && m.prefix == 0 && m.positional(); }
// Hidden by column - row alone, and no row without a visible key.
bool hidden_by_offset(const Mask& m, const Shape& s) {
  return m.positional() && m.prefix == 0 && m.offset + s.Lq <= s.Lk;
}

std::optional<Tensor> key_form(const AttentionCall& call, const Shape& s) {
  if (!plainly_causal(call.mask) && !call.mask.shows(s.all)) return std::nullopt;
  auto found = call.bias->by_key();
  return found && !wants_gradient(*found) ? found : std::nullopt;
}
std::optional<Tensor> offset_form(const AttentionCall& call, const Shape& s) {
  if (!hidden_by_offset(call.mask, s)) return std::nullopt;
  auto found = call.bias->by_offset();
  return found && !wants_gradient(*found) ? found : std::nullopt;
}

// Why a bias cannot come in, in the order in which a user could do something about it.
std::optional<std::string> refuses_bias(const AttentionCall& call, const Shape& s) {
  const ScoreBias& bias = *call.bias;
  if (!call.q.device().is_cpu()) return "a bias leaves its fused path on this device";
  if (call.q.scalar_type() != accumulate_type(call.q.scalar_type()))
    return "it would round the bias to the type of the queries";
  if (bias.whole_rows()) return "the bias needs all keys of a row at once, which its fused path never holds";
  if (bias.reads_content()) return "the bias depends on the queries or keys themselves, and it adds only given numbers";
  if (offset_form(call, s) || key_form(call, s)) return std::nullopt;
  const auto over_offsets = bias.by_offset(), over_keys = bias.by_key();
  if (!over_offsets && !over_keys)
    return "it takes a bias only over keys or offsets alone, and this one has neither form";
  if ((over_offsets && wants_gradient(*over_offsets)) || (over_keys && wants_gradient(*over_keys)))
    return "its fused path has no gradient for a learned bias";
  return "beside a bias it has no room for padding, packed documents, a prefix or rows that see no key";
}

Tensor attend(const AttentionCall& call, const Tensor& q, const Tensor& k, const Tensor& v,
              const std::optional<Tensor>& mask, bool causal) {
  return at::scaled_dot_product_attention(q, k, v, mask, 0.0, causal, call.scale, q.size(1) != k.size(1));
}

Tensor with_dense_mask(const AttentionCall& call, const Shape& s) {
  const Tensor seen = call.mask.tile(s.all, call.q.device());
  // A row that sees nothing sees all instead, and is zeroed afterwards: no NaN on any path, forward or back.
  const Tensor none = seen.any(-1, /*keepdim=*/true).logical_not();
  return attend(call, call.q, call.k, call.v, seen.logical_or(none), false).masked_fill(none, 0.0);
}

// The bias as an overlapping strided view over the vector, the queries flipped: entry (r, j) after the flip is vector[r
// + j].
Tensor with_offset_vector(const AttentionCall& call, const Shape& s, Tensor vector) {
  const Mask& m = call.mask;
  const Tensor offset = at::arange(1 - s.Lq, s.Lk, vector.options().dtype(at::kLong));  // column - row
  if (m.causal) vector = vector.masked_fill(offset > m.offset, kMinusInfinity);
  if (m.window) vector = vector.masked_fill(offset <= m.offset - *m.window, kMinusInfinity);
  if (m.window && !m.causal) vector = vector.masked_fill(offset >= m.offset + *m.window, kMinusInfinity);
  vector = vector.to(call.q.scalar_type()).contiguous();
  const int64_t H = vector.size(0), block = m.causal ? kQueryBlock : s.Lq;
  std::vector<Tensor> outs;
  for (int64_t q0 = 0; q0 < s.Lq; q0 += block) {
    const int64_t q1 = std::min(s.Lq, q0 + block), k1 = m.causal ? std::min(s.Lk, q1 + m.offset) : s.Lk;
    const Tensor view =
        vector.as_strided({1, H, q1 - q0, k1}, {0, vector.size(1), 1, 1}, vector.storage_offset() + s.Lq - q1);
    const Tensor flipped = call.q.slice(2, q0, q1).flip(2);
    outs.push_back(attend(call, flipped, call.k.slice(2, 0, k1), call.v.slice(2, 0, k1), view, false).flip(2));
  }
  return at::cat(outs, 2);
}
}  // namespace

SdpaKernel::SdpaKernel(const Config&, const KernelFacts&) {}
void fields(Fields&, SdpaKernel::Config&) {}

KernelTraits SdpaKernel::traits() const {
  return {.places = {.input = true, .query_key = true, .scores = true, .values = false}};
}

std::optional<std::string> SdpaKernel::refuses(const AttentionCall& call) const {
  if (call.want_weights) return "it does not give attention weights";
  if (call.value_term) return "it takes no value terms";
  if (call.dropout > 0.0) return "its dropout cannot be drawn from a key";
  if (call.softcap) return "it has no softcap";
  if (call.q.size(3) != call.v.size(3)) return "values of another width than queries leave its fused path";
  const Shape s(call);
  if (call.bias) return refuses_bias(call, s);
  if (plainly_causal(call.mask) || call.mask.shows(s.all)) return std::nullopt;
  if ((call.mask.positional() ? 1 : call.q.size(0)) * s.Lq * s.Lk <= kDenseLimit) return std::nullopt;
  return "it would need a dense mask of every query and key";
}

Attended SdpaKernel::run(const AttentionCall& call) {
  const AutocastScope off(call.q.device().type(), no_autocast());
  const Shape s(call);
  const bool causal = plainly_causal(call.mask);
  if (call.bias) {
    // Offsets first: their numbers are the bias itself, those over keys differ by a constant that grows with the row.
    if (const auto over_offsets = offset_form(call, s)) return {with_offset_vector(call, s, *over_offsets)};
    const auto over_keys = key_form(call, s);
    ORDO_ASSERT(over_keys.has_value());
    return {attend(call, call.q, call.k, call.v, over_keys->to(call.q.scalar_type()), causal)};
  }
  if (causal || call.mask.shows(s.all)) return {attend(call, call.q, call.k, call.v, std::nullopt, causal)};
  return {with_dense_mask(call, s)};
}

}  // namespace ordo
