// SPDX-License-Identifier: Apache-2.0
#include "ordo/attention/strips.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "ordo/attention/score_rows.h"
#include "ordo/ops/autocast.h"
#include "ordo/ops/draw.h"

namespace ordo {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

void check_offset_vector(const Tensor& w, int64_t H, int64_t Lq, int64_t Lk) {
  const auto [heads, offsets] = sizes<2>(w, "a bias over offsets [H, Lq + Lk - 1]");
  require(heads == H && offsets == Lq + Lk - 1, "attention: a bias over offsets is [{}, {}], expected [{}, {}]", heads,
          offsets, H, Lq + Lk - 1);
}

void check_offset_table(const Tensor& t, const char* what, const std::array<int64_t, 3>& expected) {
  const auto found = sizes<3>(t, what);
  const auto [H, entries, width] = expected;
  require((found[0] == 1 || found[0] == H) && found[1] == entries && found[2] == width,
          "attention: {} is [{}, {}, {}], expected [1 or {}, {}, {}]", what, found[0], found[1], found[2], H, entries,
          width);
}

Tensor strip_of_vector(const Tensor& w, const Tile& t, int64_t Lq) {
  const int64_t n = t.rows(), m = t.columns(), low = t.k0 - (t.q1 - 1) + Lq - 1;
  const Tensor part = w.slice(1, low, low + n + m - 1).contiguous();  // row r reads [n-1-r, n-1-r+m)
  return part.as_strided({1, part.size(0), n, m}, {0, part.size(1), 1, 1}).flip(2);
}

Tensor diagonal_sums(const Tensor& ds) {
  const auto [H, n, m] = sizes<3>(ds, "ds [H, rows, columns]");
  const Tensor padded = at::zeros({H, n, n + m}, ds.options());
  padded.slice(2, 0, m).copy_(ds.flip(1));
  return padded.as_strided({H, n, n + m - 1}, {n * (n + m), n + m - 1, 1}).sum(1);
}

namespace {
// exp of what underflows is 20 times as slow in ATen: differences are clamped, hidden entries zeroed afterwards.
constexpr double kFloor = -80.0;

constexpr int64_t kMostScores = int64_t{1} << 20;  // of a strip, [B, H, rows, columns]: 4 MB a temporary

// What forward and backward share beside tensors.
struct Work : torch::CustomClassHolder {
  AttentionCall call;  // q, k, v undefined: they travel as autograd's own inputs
  int64_t rows = 0;
  bool by_offset = false;  // the first extra input is the bias's vector
  size_t bias_inputs = 0;
};

// Sums `d` over the dimensions in which a tensor of `like`'s shape was broadcast.
Tensor sum_to(Tensor d, const Tensor& like) {
  while (d.dim() > like.dim()) d = d.sum(0);
  for (int64_t i = 0; i < d.dim(); ++i)
    if (like.size(i) == 1 && d.size(i) != 1) d = d.sum(i, /*keepdim=*/true);
  return d;
}

// One pass over the strips of a call: q, k, v in the type that sums are held in, groups repeated.
class Strips {
 public:
  Strips(const Work& work, const Tensor& q, const Tensor& k, const Tensor& v, variable_list extra)
      : work_(work),
        call_(work.call),
        extra_(std::move(extra)),
        wide_(accumulate_type(q.scalar_type())),
        H_(q.size(1)),
        q_(q.to(wide_)),
        k_(repeat_groups(k.to(wide_), H_)),
        v_(repeat_groups(v.to(wide_), H_)) {}

  std::pair<Tensor, Tensor> forward();  // out [B, H, Lq, E], log-sum-exp [B, H, Lq]
  void backward(const Tensor& dout, const Tensor& lse);
  Tensor dq, dk, dv;
  variable_list dextra;

 private:
  struct Scores {
    Tensor all, capped;
  };  // capped: tanh(scores / cap), for the way back
  template <class Body>
  void each_strip(const Body& body) const;
  Tile strip_from(int64_t q0) const;
  Scores scores(const Tile& t, const Tensor& bias) const;
  Tensor bias_of(const Tile& t, const Tensor& q, const Tensor& k) const;
  Tensor hidden_of(const Tile& t) const;
  Tensor keep_of(const Tile& t) const;  // the dropout mask, undefined without dropout
  Tensor queries(const Tile& t) const { return q_.slice(2, t.q0, t.q1); }
  Tensor keys(const Tile& t) const { return k_.slice(2, t.k0, t.k1); }
  void strip_forward(const Tile& t, const Tensor& out, const Tensor& lse) const;
  void strip_backward(const Tile& t, const Tensor& dout, const Tensor& lse);
  Tensor term_backward(const Tile& t, const Tensor& weights, const Tensor& dout);
  void bias_backward(const Tile& t, const Tensor& bias, const Tensor& q, const Tensor& k, const Tensor& ds);
  void add_extra(size_t i, const Tensor& gradient);

  const Work& work_;
  const AttentionCall& call_;
  variable_list extra_;
  at::ScalarType wide_;
  int64_t H_;
  Tensor q_, k_, v_;
};

// The rows from q0 on, as many as may be, and the columns that they see.
Tile Strips::strip_from(int64_t q0) const {
  const int64_t heads = q_.size(0) * H_;
  for (int64_t rows = work_.rows;; rows = (rows + 1) / 2) {
    const int64_t q1 = std::min(q_.size(2), q0 + rows);
    const auto [k0, k1] = call_.mask.visible(q0, q1, k_.size(2));
    if (rows == 1 || (q1 - q0) * (k1 - k0) * heads <= kMostScores) return {q0, q1, k0, k1};
  }
}

template <class Body>
void Strips::each_strip(const Body& body) const {
  for (int64_t q0 = 0; q0 < q_.size(2);) {
    const Tile t = strip_from(q0);
    if (t.k0 < t.k1) body(t);
    q0 = t.q1;
  }
}

Tensor Strips::hidden_of(const Tile& t) const {
  return call_.mask.shows(t) ? Tensor() : call_.mask.tile(t, q_.device()).logical_not_();
}

Tensor Strips::keep_of(const Tile& t) const {
  if (call_.dropout == 0.0) return {};
  return dropout_mask_tile({q_.size(0), H_, q_.size(2), k_.size(2)}, t, call_.dropout, call_.draw, q_.options());
}

Tensor Strips::bias_of(const Tile& t, const Tensor& q, const Tensor& k) const {
  if (!call_.bias) return {};
  return work_.by_offset ? strip_of_vector(extra_[0], t, q_.size(2)) : call_.bias->tile(t, q, k);
}

Strips::Scores Strips::scores(const Tile& t, const Tensor& bias) const {
  Tensor s = at::matmul(queries(t), keys(t).transpose(-1, -2)).mul_(call_.scale), capped;
  if (call_.softcap) {
    capped = s.div_(*call_.softcap).tanh_();
    s = capped * *call_.softcap;
  }
  if (bias.defined()) s.add_(bias);
  return {s, capped};
}

std::pair<Tensor, Tensor> Strips::forward() {
  const int64_t B = q_.size(0), Lq = q_.size(2);
  Tensor out = at::zeros({B, H_, Lq, v_.size(3)}, q_.options()), lse = at::zeros({B, H_, Lq, 1}, q_.options());
  each_strip([&](const Tile& t) { strip_forward(t, out, lse); });
  return {out, lse};
}

void Strips::strip_forward(const Tile& t, const Tensor& out, const Tensor& lse) const {
  Tensor p = scores(t, bias_of(t, queries(t), keys(t))).all;
  const Tensor hidden = hidden_of(t);
  if (hidden.defined()) p.masked_fill_(hidden, kHiddenScore);
  const Tensor top = p.amax(-1, /*keepdim=*/true);
  p.sub_(top).clamp_min_(kFloor).exp_();
  if (hidden.defined()) p.masked_fill_(hidden, 0.0);
  const Tensor total = p.sum(-1, /*keepdim=*/true).clamp_min_(1e-30);  // a row that sees nothing: 0 / 1e-30
  p.div_(total);
  lse.slice(2, t.q0, t.q1).copy_(top + total.log());
  const Tensor keep = keep_of(t);
  if (keep.defined()) p.mul_(keep);
  const Tensor o = at::matmul(p, v_.slice(2, t.k0, t.k1));
  out.slice(2, t.q0, t.q1).copy_(call_.value_term ? o + call_.value_term->tile(t, p) : o);
}

void Strips::backward(const Tensor& dout, const Tensor& lse) {
  dq = at::zeros_like(q_);
  dk = at::zeros_like(k_);
  dv = at::zeros_like(v_);
  dextra.resize(extra_.size());
  const Tensor wide_dout = dout.to(wide_);
  each_strip([&](const Tile& t) { strip_backward(t, wide_dout.slice(2, t.q0, t.q1), lse.slice(2, t.q0, t.q1)); });
}

void Strips::strip_backward(const Tile& t, const Tensor& dout, const Tensor& lse) {
  Tensor q = queries(t), k = keys(t), bias;
  if (call_.bias && !work_.by_offset) {
    const at::AutoGradMode with_graph(true);
    if (call_.bias->reads_content()) {
      q = q.detach().requires_grad_(true);
      k = k.detach().requires_grad_(true);
    }
    bias = call_.bias->tile(t, q, k);
  } else {
    bias = bias_of(t, q, k);
  }
  const Scores s = scores(t, bias.defined() ? bias.detach() : bias);
  Tensor p = s.all.sub_(lse).clamp_(kFloor, 0.5).exp_();
  const Tensor hidden = hidden_of(t), keep = keep_of(t);
  if (hidden.defined()) p.masked_fill_(hidden, 0.0);
  const Tensor dropped = keep.defined() ? p * keep : p;
  dv.slice(2, t.k0, t.k1).add_(at::matmul(dropped.transpose(-1, -2), dout));
  Tensor dp = at::matmul(dout, v_.slice(2, t.k0, t.k1).transpose(-1, -2));
  if (call_.value_term) dp.add_(term_backward(t, dropped, dout));
  if (keep.defined()) dp.mul_(keep);
  const Tensor ds = dp.sub_((p * dp).sum(-1, /*keepdim=*/true)).mul_(p);
  if (bias.defined()) bias_backward(t, bias, q, k, ds);
  const Tensor dproduct = s.capped.defined() ? ds * (1.0 - s.capped * s.capped) : ds;
  dq.slice(2, t.q0, t.q1).add_(at::matmul(dproduct, keys(t)), call_.scale);
  dk.slice(2, t.k0, t.k1).add_(at::matmul(dproduct.transpose(-1, -2), queries(t)), call_.scale);
}

// Gradient of the value term for the weights; that of its inputs is added up.
Tensor Strips::term_backward(const Tile& t, const Tensor& weights, const Tensor& dout) {
  const at::AutoGradMode with_graph(true);
  const Tensor w = weights.detach().requires_grad_(true);
  const Tensor o = call_.value_term->tile(t, w);
  variable_list wanted{w};
  std::vector<size_t> places;
  for (size_t i = work_.bias_inputs; i < extra_.size(); ++i) {
    const Tensor input = call_.value_term->inputs()[i - work_.bias_inputs];
    if (!input.requires_grad()) continue;
    wanted.push_back(input);
    places.push_back(i);
  }
  const auto g = torch::autograd::grad({o}, wanted, {sum_to(dout, o)}, std::nullopt, /*create_graph=*/false,
                                       /*allow_unused=*/true);
  for (size_t i = 0; i < places.size(); ++i) add_extra(places[i], g[i + 1]);
  return g[0].defined() ? g[0] : at::zeros_like(weights);
}

void Strips::bias_backward(const Tile& t, const Tensor& bias, const Tensor& q, const Tensor& k, const Tensor& ds) {
  if (work_.by_offset) {
    if (!extra_[0].requires_grad()) return;
    const int64_t low = t.k0 - (t.q1 - 1) + q_.size(2) - 1;
    if (!dextra[0].defined()) dextra[0] = at::zeros_like(extra_[0]);
    dextra[0].slice(1, low, low + t.rows() + t.columns() - 1).add_(diagonal_sums(ds.sum(0)));
    return;
  }
  if (!bias.requires_grad()) return;
  variable_list wanted;
  const bool content = call_.bias->reads_content();
  if (content) wanted = {q, k};
  const size_t first = wanted.size();
  std::vector<size_t> places;
  const auto inputs = call_.bias->inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].requires_grad()) continue;
    wanted.push_back(inputs[i]);
    places.push_back(i);
  }
  if (wanted.empty()) return;
  const auto g = torch::autograd::grad({bias}, wanted, {sum_to(ds, bias)}, std::nullopt, /*create_graph=*/false,
                                       /*allow_unused=*/true);
  if (content && g[0].defined()) dq.slice(2, t.q0, t.q1).add_(g[0]);
  if (content && g[1].defined()) dk.slice(2, t.k0, t.k1).add_(g[1]);
  for (size_t i = 0; i < places.size(); ++i) add_extra(places[i], g[first + i]);
}

void Strips::add_extra(size_t i, const Tensor& gradient) {
  if (!gradient.defined()) return;
  if (dextra[i].defined())
    dextra[i].add_(gradient);
  else
    dextra[i] = gradient.clone();
}

class StripAttention : public torch::autograd::Function<StripAttention> {
 public:
  static Tensor forward(AutogradContext* ctx, const Tensor& q, const Tensor& k, const Tensor& v, at::TensorList extra,
                        const c10::intrusive_ptr<Work>& work) {
    const AutocastScope off(q.device().type(), no_autocast());
    variable_list saved{q, k, v};
    saved.insert(saved.end(), extra.begin(), extra.end());
    auto [out, lse] = Strips(*work, q, k, v, extra.vec()).forward();
    saved.push_back(lse);
    ctx->save_for_backward(saved);
    ctx->saved_data["work"] = c10::IValue::make_capsule(work);
    return out.to(q.scalar_type());
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const auto saved = ctx->get_saved_variables();
    const auto work = c10::static_intrusive_pointer_cast<Work>(ctx->saved_data["work"].toCapsule());
    const Tensor &q = saved[0], &k = saved[1], &v = saved[2];
    const AutocastScope off(q.device().type(), no_autocast());
    Strips strips(*work, q, k, v, variable_list(saved.begin() + 3, saved.end() - 1));
    strips.backward(gradients[0], saved.back());
    const int64_t G = k.size(1);
    variable_list result{strips.dq.to(q.scalar_type()), sum_groups(strips.dk, G).to(k.scalar_type()),
                         sum_groups(strips.dv, G).to(v.scalar_type())};
    result.insert(result.end(), strips.dextra.begin(), strips.dextra.end());
    result.emplace_back();  // the work itself
    return result;
  }
};
}  // namespace

Tensor attend_in_strips(const AttentionCall& call, int64_t rows) {
  check_shapes(call);
  const AutocastScope off(call.q.device().type(), no_autocast());
  auto work = c10::make_intrusive<Work>();
  work->call = call;
  work->call.q = work->call.k = work->call.v = Tensor();
  work->rows = rows;
  variable_list extra;
  if (call.bias) {
    if (const auto vector = call.bias->by_offset()) {
      check_offset_vector(*vector, call.q.size(1), call.q.size(2), call.k.size(2));
      work->by_offset = true;
      extra.push_back(*vector);
    } else {
      extra = call.bias->inputs();
    }
  }
  work->bias_inputs = extra.size();
  if (call.value_term) {
    const auto inputs = call.value_term->inputs();
    extra.insert(extra.end(), inputs.begin(), inputs.end());
  }
  return StripAttention::apply(call.q, call.k, call.v, at::TensorList(extra), work);
}

}  // namespace ordo
