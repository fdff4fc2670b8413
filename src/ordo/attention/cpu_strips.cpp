// SPDX-License-Identifier: Apache-2.0
#include "ordo/attention/cpu_strips.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>

#include "ordo/attention/cpu_pass.h"
#include "ordo/attention/score_rows.h"
#include "ordo/attention/strips.h"
#include "ordo/ops/autocast.h"

namespace ordo {

namespace {
// Half of a strip's square on the diagonal is computed in vain: short causal rows take thinner strips.
int64_t strip_rows(const Mask& mask, int64_t Lq) {
  return mask.causal && Lq <= 256 ? kMostStripRows / 2 : kMostStripRows;
}

// [B, H, L, E] stored as [B, L, H, E].
Tensor heads_like(int64_t B, int64_t H, int64_t L, int64_t E, const at::TensorOptions& options) {
  return at::empty({B, L, H, E}, options).transpose(1, 2);
}

// What may want a gradient beside q, k and v; undefined when there is none.
enum Extra : size_t { kBias, kQueries, kKeys, kValues, kExtras };
using Extras = std::array<Tensor, kExtras>;

CpuTensors tensors_of(const Tensor& q, const Tensor& k, const Tensor& v, const Extras& extras, at::ScalarType wide) {
  return {with_dense_rows(q.to(wide)),
          with_dense_rows(k.to(wide)),
          with_dense_rows(v.to(wide)),
          extras[kBias],
          extras[kQueries],
          extras[kKeys],
          extras[kValues]};
}

// Zeros to sum the gradient of a table in.
Tensor table_sums(const Tensor& table, const Tensor& q) {
  const int64_t B = q.size(0), H = q.size(1);
  return at::zeros({table_lanes(B, H), H, table.size(1), table.size(2)}, table.options());
}
// [lanes or B, H, …] -> the shape of what it is the gradient of.
Tensor bias_gradient(const Tensor& sums, const Tensor& bias) {
  return bias.size(0) == 1 ? sums.sum(0, /*keepdim=*/true) : sums;
}
Tensor table_gradient(const Tensor& sums, const Tensor& table) {
  const Tensor over_lanes = sums.sum(0);
  return table.size(0) == 1 ? over_lanes.sum(0, /*keepdim=*/true) : over_lanes;
}

class CpuAttention : public torch::autograd::Function<CpuAttention> {
 public:
  using Maybe = std::optional<Tensor>;
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& q, const Tensor& k, const Tensor& v,
                        const Maybe& bias, const Maybe& queries, const Maybe& keys, const Maybe& values,
                        const c10::intrusive_ptr<CpuWork>& work) {
    const AutocastScope off(at::kCPU, no_autocast());
    const auto wide = accumulate_type(q.scalar_type());
    const Extras extras{bias.value_or(Tensor()), queries.value_or(Tensor()), keys.value_or(Tensor()),
                        values.value_or(Tensor())};
    const CpuTensors in = tensors_of(q, k, v, extras, wide);
    const int64_t B = q.size(0), H = q.size(1), Lq = q.size(2);
    const Tensor out = heads_like(B, H, Lq, v.size(3), in.q.options()), lse = at::empty({B, H, Lq}, in.q.options());
    strips_forward(*work, in, out, lse);
    torch::autograd::variable_list saved{q, k, v, out, lse};
    saved.insert(saved.end(), extras.begin(), extras.end());
    ctx->save_for_backward(saved);
    ctx->saved_data["work"] = c10::IValue::make_capsule(work);
    return out.to(q.scalar_type());
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = ctx->get_saved_variables();
    const auto work = c10::static_intrusive_pointer_cast<CpuWork>(ctx->saved_data["work"].toCapsule());
    const Tensor &q = saved[0], &k = saved[1], &v = saved[2], &out = saved[3], &lse = saved[4];
    const Extras extras{saved[5], saved[6], saved[7], saved[8]};
    const AutocastScope off(at::kCPU, no_autocast());
    const CpuTensors in = tensors_of(q, k, v, extras, out.scalar_type());
    const Tensor dout = with_dense_rows(gradients[0].to(out.scalar_type()));
    const int64_t B = q.size(0), H = q.size(1), G = k.size(1), Lq = q.size(2), Lk = k.size(2), E = q.size(3);
    const auto options = in.q.options();
    CpuGradients g{.dq = heads_like(B, H, Lq, E, options),
                   .dk = heads_like(B, H, Lk, E, options).zero_(),
                   .dv = heads_like(B, H, Lk, v.size(3), options).zero_()};
    const std::array<Tensor*, kExtras> sums{&g.bias, &g.queries, &g.keys, &g.values};
    size_t edge = 3;  // autograd counts the tensors that are there
    for (size_t i = 0; i < kExtras; ++i) {
      if (!extras[i].defined() || !ctx->needs_input_grad(edge++)) continue;
      *sums[i] = i == kBias ? at::zeros({B, H, extras[i].size(2)}, options) : table_sums(extras[i], q);
    }
    strips_backward(*work, in, out, lse, dout, g);
    torch::autograd::variable_list result{g.dq.to(q.scalar_type()), sum_groups(g.dk, G).to(k.scalar_type()),
                                          sum_groups(g.dv, G).to(v.scalar_type())};
    for (size_t i = 0; i < kExtras; ++i) {
      if (!sums[i]->defined())
        result.emplace_back();
      else
        result.push_back(i == kBias ? bias_gradient(*sums[i], extras[i]) : table_gradient(*sums[i], extras[i]));
    }
    result.emplace_back();  // the work itself
    return result;
  }
};

// A bias over keys as [1|B, H, Lk].
Tensor over_keys(const Tensor& c, int64_t B, int64_t H, int64_t Lk) {
  const auto [rows, heads, one, keys] = sizes<4>(c, "a bias over keys [1|B, H, 1, Lk]");
  require((rows == 1 || rows == B) && (heads == 1 || heads == H) && one == 1 && keys == Lk,
          "attention: a bias over keys is [{}, {}, {}, {}], expected [1 or {}, {}, 1, {}]", rows, heads, one, keys, B,
          H, Lk);
  return c.expand({-1, H, 1, -1}).squeeze(2);
}

// Fills in the bias and the tables of a call; false when it has no form that this path knows.
bool find_forms(const AttentionCall& call, CpuWork& work, Extras& extras) {
  const int64_t B = call.q.size(0), H = call.q.size(1), Lq = call.q.size(2), Lk = call.k.size(2), E = call.q.size(3);
  const auto over_offsets = [&](const Tensor& w) {
    check_offset_vector(w, H, Lq, Lk);
    work.form = BiasForm::by_offset;
    extras[kBias] = w.unsqueeze(0);
  };
  if (call.value_term) {
    const auto values = call.value_term->by_offset();
    if (!values) return false;
    check_offset_table(*values, "a value term over offsets", {H, Lq + Lk - 1, call.v.size(3)});
    extras[kValues] = *values;
  }
  if (!call.bias) return true;
  if (const auto w = call.bias->by_offset()) {
    over_offsets(*w);
  } else if (const auto c = call.bias->by_key()) {
    work.form = BiasForm::by_key;
    extras[kBias] = over_keys(*c, B, H, Lk);
  } else if (const auto form = call.bias->by_content()) {
    if (form->offsets.defined()) over_offsets(form->offsets);
    extras[kQueries] = form->queries;
    extras[kKeys] = form->keys;
    for (const Extra i : {kQueries, kKeys})
      if (extras[i].defined()) check_offset_table(extras[i], "a bias of content over offsets", {H, Lq + Lk - 1, E});
  } else {
    return false;
  }
  return true;
}

// Keys that padding hides one by one, as a number added to their scores: within a bias over keys, or beside all others.
void hide_keys(const AttentionCall& call, CpuWork& work, Extras& extras, at::ScalarType wide) {
  const int64_t B = call.q.size(0), H = call.q.size(1), Lk = call.k.size(2);
  const Tensor hidden =
      at::zeros({B, Lk}, call.q.options().dtype(wide)).masked_fill_(work.spans.hidden_keys, kHiddenScore);
  if (work.form == BiasForm::by_offset) {
    work.hidden = hidden;
    return;
  }
  Tensor& bias = extras[kBias];
  bias = bias.defined() ? bias + hidden.unsqueeze(1) : hidden.unsqueeze(1).expand({B, H, Lk});
  work.form = BiasForm::by_key;
}
}  // namespace

std::optional<Tensor> attend_on_cpu(const AttentionCall& call) {
  if (!call.q.device().is_cpu() || call.softcap) return std::nullopt;
  check_shapes(call);
  if (call.q.numel() == 0 || call.k.size(2) == 0) return std::nullopt;
  const AutocastScope off(at::kCPU, no_autocast());
  const auto wide = accumulate_type(call.q.scalar_type());
  auto work = c10::make_intrusive<CpuWork>();
  Extras extras;
  if (!find_forms(call, *work, extras)) return std::nullopt;
  auto spans = row_spans(call.mask, call.q.size(2), call.k.size(2));
  if (!spans) return std::nullopt;
  work->spans = std::move(*spans);
  if (work->spans.hidden_keys.defined()) hide_keys(call, *work, extras, wide);
  work->scale = call.scale;
  work->dropout = call.dropout;
  work->draw = call.draw;
  work->rows = strip_rows(call.mask, call.q.size(2));
  std::array<std::optional<Tensor>, kExtras> given;
  for (size_t i = 0; i < kExtras; ++i)
    if (extras[i].defined()) given[i] = extras[i].to(wide).contiguous();
  return CpuAttention::apply(call.q, call.k, call.v, given[kBias], given[kQueries], given[kKeys], given[kValues], work);
}

}  // namespace ordo
