// SPDX-License-Identifier: Apache-2.0
#include "ordo/attention/cpu_strips.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "ordo/attention/products.h"
#include "ordo/attention/row_spans.h"
#include "ordo/attention/score_rows.h"
#include "ordo/attention/strips.h"
#include "ordo/ops/autocast.h"
#include "ordo/ops/draw.h"

namespace ordo {

namespace {
constexpr int64_t kMostRows = 64;  // of a strip

enum class BiasForm { none, by_offset, by_key };

// What forward and backward share beside tensors.
struct CpuWork : torch::CustomClassHolder {
  RowSpans spans;
  BiasForm form = BiasForm::none;
  double scale = 1.0, dropout = 0.0;
  uint64_t draw = 0;
  int64_t rows = kMostRows;
};

// Half of a strip's square on the diagonal is computed in vain: short causal rows take thinner strips.
int64_t strip_rows(const Mask& mask, int64_t Lq) { return mask.causal && Lq <= 256 ? kMostRows / 2 : kMostRows; }

// A tensor [B, H, L, E] whose rows are contiguous, whatever lies between them.
template <class T>
struct Heads {
  explicit Heads(const Tensor& t)
      : data(const_cast<T*>(t.const_data_ptr<std::remove_const_t<T>>())),
        batch(t.stride(0)),
        head(t.stride(1)),
        row(t.stride(2)) {}
  Rows<T> of(int64_t b, int64_t h) const { return {data + b * batch + h * head, row}; }
  T* data;
  int64_t batch, head, row;
};

// BLAS wants the numbers of a row side by side, and rows that do not overlap (as those of an expanded tensor would).
Tensor with_dense_rows(const Tensor& t) {
  const bool side_by_side = t.stride(3) == 1 || t.size(3) == 1, apart = t.stride(2) >= t.size(3) || t.size(2) == 1;
  return side_by_side && apart ? t : t.contiguous();
}
// [B, H, L, E] stored as [B, L, H, E].
Tensor heads_like(int64_t B, int64_t H, int64_t L, int64_t E, const at::TensorOptions& options) {
  return at::empty({B, L, H, E}, options).transpose(1, 2);
}

struct Shapes {
  int64_t B, H, G, Lq, Lk, E, Ev;
  Shapes(const Tensor& q, const Tensor& k, const Tensor& v)
      : B(q.size(0)), H(q.size(1)), G(k.size(1)), Lq(q.size(2)), Lk(k.size(2)), E(q.size(3)), Ev(v.size(3)) {}
  int64_t stride() const { return at::divup(Lk, 16) * 16 + 16; }  // of score rows: aligned, and no power of two
};

// dk, dv [B, H, Lk, E] and dbias [B, H, …] are added to: they start as zeros.
struct Gradients {
  Tensor dq, dk, dv, dbias = {};
};

template <class T>
class CpuStrips {
 public:
  CpuStrips(const CpuWork& work, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias)
      : work_(work), s_(q, k, v), options_(q.options()), q_(q), k_(k), v_(v), bias_(bias) {}

  void forward(const Tensor& out, const Tensor& lse) const {
    const Heads<T> to(out);
    T* const lse_data = lse.mutable_data_ptr<T>();
    at::parallel_for(0, s_.B * s_.H * strips(), 1, [&](int64_t begin, int64_t end) {
      const Tensor room = scores_room(1);
      std::vector<T> sums(kMostRows);
      for (int64_t i = begin; i < end; ++i) {
        const Strip strip = strip_of(i / strips(), i % strips(), room.mutable_data_ptr<T>());
        forward_strip(strip, to.of(strip.b, strip.h).from(strip.q0), sums.data(),
                      lse_data + strip.bh * s_.Lq + strip.q0);
      }
    });
  }

  void backward(const Tensor& out, const Tensor& lse, const Tensor& dout, const Gradients& g) const {
    at::parallel_for(0, s_.B * s_.H, 1, [&](int64_t begin, int64_t end) {
      const Tensor room = scores_room(2);
      for (int64_t bh = begin; bh < end; ++bh)
        for (int64_t i = 0; i < strips(); ++i)
          backward_strip(strip_of(bh, i, room.mutable_data_ptr<T>()), out, lse, dout, g);
    });
  }

 private:
  struct Strip {
    int64_t bh, b, h, group, q0, k0;
    ScoreStrip<T> scores;
  };

  int64_t strips() const { return at::divup(s_.Lq, work_.rows); }
  Tensor scores_room(int64_t buffers) const {
    return at::empty({buffers * std::min(work_.rows, s_.Lq) * s_.stride()}, options_);
  }

  Strip strip_of(int64_t bh, int64_t i, T* room) const {
    const int64_t b = bh / s_.H, h = bh % s_.H, q0 = i * work_.rows, q1 = std::min(s_.Lq, q0 + work_.rows);
    const auto [k0, k1] = work_.spans.columns(b, q0, q1, s_.Lq);
    const size_t at = work_.spans.place(b, q0, s_.Lq);
    Strip strip{bh,
                b,
                h,
                h / (s_.H / s_.G),
                q0,
                k0,
                {.scores = room,
                 .stride = s_.stride(),
                 .rows = q1 - q0,
                 .columns = k1 - k0,
                 .first = k0,
                 .low = work_.spans.low.data() + at,
                 .high = work_.spans.high.data() + at}};
    if (work_.form != BiasForm::none) {
      const auto [place, step] = bias_place(strip);
      strip.scores.bias = bias_.const_data_ptr<T>() + (bias_.size(0) == 1 ? 0 : b * s_.H * bias_.size(2)) + place;
      strip.scores.bias_step = step;
    }
    return strip;
  }
  // Where (row 0, column 0) of a strip stands in the bias of one row of the batch, and how it moves from row to row.
  std::pair<int64_t, int64_t> bias_place(const Strip& strip) const {
    const bool by_offset = work_.form == BiasForm::by_offset;
    const int64_t width = by_offset ? s_.Lq + s_.Lk - 1 : s_.Lk;
    return {strip.h * width + strip.k0 + (by_offset ? s_.Lq - 1 - strip.q0 : 0), by_offset ? -1 : 0};
  }

  Rows<const T> queries(const Strip& s) const { return q_.of(s.b, s.h).from(s.q0); }
  Rows<const T> keys(const Strip& s) const { return k_.of(s.b, s.group).from(s.k0); }
  Rows<const T> values(const Strip& s) const { return v_.of(s.b, s.group).from(s.k0); }

  void form_scores(const Strip& s) const {
    multiply({.m = s.scores.rows, .n = s.scores.columns, .k = s_.E, .b_transposed = true, .alpha = work_.scale},
             queries(s), keys(s), Rows<T>{s.scores.scores, s.scores.stride});
  }

  void drop(const Strip& s, T* data) const {
    for (int64_t r = 0; r < s.scores.rows; ++r)
      dropout_run(data + r * s.scores.stride, (s.bh * s_.Lq + s.q0 + r) * s_.Lk + s.k0, s.scores.columns, work_.dropout,
                  work_.draw);
  }

  void forward_strip(const Strip& s, Rows<T> out, T* sums, T* lse) const {
    if (s.scores.columns == 0) {
      for (int64_t r = 0; r < s.scores.rows; ++r) std::fill_n(out.data + r * out.stride, s_.Ev, T(0));
      std::fill_n(lse, s.scores.rows, T(0));
      return;
    }
    form_scores(s);
    softmax_strip(s.scores, sums, lse);
    if (work_.dropout > 0.0) drop(s, s.scores.scores);
    multiply({.m = s.scores.rows, .n = s_.Ev, .k = s.scores.columns}, Rows<const T>{s.scores.scores, s.scores.stride},
             values(s), out);
    divide_rows(out.data, out.stride, s.scores.rows, s_.Ev, sums);
  }

  void backward_strip(const Strip& s, const Tensor& out, const Tensor& lse, const Tensor& dout,
                      const Gradients& g) const {
    const Rows<T> dq = Heads<T>(g.dq).of(s.b, s.h).from(s.q0);
    const int64_t n = s.scores.rows, m = s.scores.columns;
    if (m == 0) {
      for (int64_t r = 0; r < n; ++r) std::fill_n(dq.data + r * dq.stride, s_.E, T(0));
      return;
    }
    const Rows<const T> o = Heads<const T>(out).of(s.b, s.h).from(s.q0),
                        grad = Heads<const T>(dout).of(s.b, s.h).from(s.q0);
    const Rows<T> dk = Heads<T>(g.dk).of(s.b, s.h).from(s.k0), dv = Heads<T>(g.dv).of(s.b, s.h).from(s.k0);
    T* const second = s.scores.scores + std::min(work_.rows, s_.Lq) * s_.stride();
    const Rows<const T> p{s.scores.scores, s.scores.stride}, ds{second, s.scores.stride};
    form_scores(s);
    multiply({.m = n, .n = m, .k = s_.Ev, .b_transposed = true}, grad, values(s), Rows<T>{second, s.scores.stride});
    if (work_.dropout > 0.0) drop(s, second);
    T delta[kMostRows];
    row_products(o.data, o.stride, grad.data, grad.stride, n, s_.Ev, delta);
    T* dbias = nullptr;
    if (g.dbias.defined()) dbias = g.dbias.mutable_data_ptr<T>() + s.b * s_.H * g.dbias.size(2) + bias_place(s).first;
    softmax_strip_backward(s.scores, second, lse.const_data_ptr<T>() + s.bh * s_.Lq + s.q0, delta, dbias);
    if (work_.dropout > 0.0) drop(s, s.scores.scores);
    multiply({.m = m, .n = s_.Ev, .k = n, .a_transposed = true, .beta = 1.0}, p, grad, dv);
    multiply({.m = n, .n = s_.E, .k = m, .alpha = work_.scale}, ds, keys(s), dq);
    multiply({.m = m, .n = s_.E, .k = n, .a_transposed = true, .alpha = work_.scale, .beta = 1.0}, ds, queries(s), dk);
  }

  const CpuWork& work_;
  Shapes s_;
  at::TensorOptions options_;
  Heads<const T> q_, k_, v_;
  const Tensor& bias_;  // [1|B, H, Lq+Lk-1 or Lk], contiguous; undefined without bias
};

// Calls body with a null pointer of the element's type.
template <class Body>
void for_width(at::ScalarType type, const Body& body) {
  if (type == at::kDouble)
    body(static_cast<double*>(nullptr));
  else
    body(static_cast<float*>(nullptr));
}

class CpuAttention : public torch::autograd::Function<CpuAttention> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& q, const Tensor& k, const Tensor& v,
                        const std::optional<Tensor>& maybe_bias, const c10::intrusive_ptr<CpuWork>& work) {
    const Tensor bias = maybe_bias.value_or(Tensor());
    const AutocastScope off(at::kCPU, no_autocast());
    const auto wide = accumulate_type(q.scalar_type());
    const Tensor wq = with_dense_rows(q.to(wide)), wk = with_dense_rows(k.to(wide)), wv = with_dense_rows(v.to(wide));
    const Shapes s(q, k, v);
    const Tensor out = heads_like(s.B, s.H, s.Lq, s.Ev, wq.options()), lse = at::empty({s.B, s.H, s.Lq}, wq.options());
    for_width(wide, [&]<class T>(T*) { CpuStrips<T>(*work, wq, wk, wv, bias).forward(out, lse); });
    ctx->save_for_backward({q, k, v, bias, out, lse});
    ctx->saved_data["work"] = c10::IValue::make_capsule(work);
    return out.to(q.scalar_type());
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = ctx->get_saved_variables();
    const auto work = c10::static_intrusive_pointer_cast<CpuWork>(ctx->saved_data["work"].toCapsule());
    const Tensor &q = saved[0], &k = saved[1], &v = saved[2], &bias = saved[3], &out = saved[4], &lse = saved[5];
    const AutocastScope off(at::kCPU, no_autocast());
    const auto wide = out.scalar_type();
    const Tensor wq = with_dense_rows(q.to(wide)), wk = with_dense_rows(k.to(wide)), wv = with_dense_rows(v.to(wide));
    const Tensor dout = with_dense_rows(gradients[0].to(wide));
    const Shapes s(q, k, v);
    const auto options = wq.options();
    Gradients g{heads_like(s.B, s.H, s.Lq, s.E, options), heads_like(s.B, s.H, s.Lk, s.E, options).zero_(),
                heads_like(s.B, s.H, s.Lk, s.Ev, options).zero_()};
    const bool bias_wanted = bias.defined() && ctx->needs_input_grad(3);
    if (bias_wanted) g.dbias = at::zeros({s.B, s.H, bias.size(2)}, options);
    for_width(wide, [&]<class T>(T*) { CpuStrips<T>(*work, wq, wk, wv, bias).backward(out, lse, dout, g); });
    Tensor dbias;
    if (bias_wanted) dbias = bias.size(0) == 1 ? g.dbias.sum(0, /*keepdim=*/true) : g.dbias;
    return {g.dq.to(q.scalar_type()),
            sum_groups(g.dk, s.G).to(k.scalar_type()),
            sum_groups(g.dv, s.G).to(v.scalar_type()),
            dbias,
            {}};
  }
};

// The bias as [1|B, H, width]; nothing when it has neither form.
std::optional<std::pair<BiasForm, Tensor>> bias_vector(const ScoreBias& bias, const Shapes& s) {
  if (const auto w = bias.by_offset()) {
    check_offset_vector(*w, s.H, s.Lq, s.Lk);
    return std::pair{BiasForm::by_offset, w->unsqueeze(0)};
  }
  if (const auto c = bias.by_key()) {
    const auto [rows, heads, one, keys] = sizes<4>(*c, "a bias over keys [1|B, H, 1, Lk]");
    require((rows == 1 || rows == s.B) && (heads == 1 || heads == s.H) && one == 1 && keys == s.Lk,
            "attention: a bias over keys is [{}, {}, {}, {}], expected [1 or {}, {}, 1, {}]", rows, heads, one, keys,
            s.B, s.H, s.Lk);
    return std::pair{BiasForm::by_key, c->expand({-1, s.H, 1, -1}).squeeze(2)};
  }
  return std::nullopt;
}
}  // namespace

std::optional<Tensor> attend_on_cpu(const AttentionCall& call) {
  if (!call.q.device().is_cpu() || call.value_term || call.softcap) return std::nullopt;
  check_shapes(call);
  const Shapes s(call.q, call.k, call.v);
  if (call.q.numel() == 0 || s.Lk == 0) return std::nullopt;
  const AutocastScope off(at::kCPU, no_autocast());
  const auto wide = accumulate_type(call.q.scalar_type());
  auto work = c10::make_intrusive<CpuWork>();
  Tensor bias;
  if (call.bias) {
    const auto found = bias_vector(*call.bias, s);
    if (!found) return std::nullopt;
    work->form = found->first;
    bias = found->second.to(wide);
  }
  auto spans = row_spans(call.mask, s.Lq, s.Lk);
  if (!spans) return std::nullopt;
  if (spans->hidden_keys.defined()) {
    if (work->form == BiasForm::by_offset) return std::nullopt;
    const Tensor hidden = at::zeros({s.B, 1, s.Lk}, call.q.options().dtype(wide))
                              .masked_fill(spans->hidden_keys.unsqueeze(1), kHiddenScore);
    bias = bias.defined() ? bias + hidden : hidden.expand({s.B, s.H, s.Lk});
    work->form = BiasForm::by_key;
  }
  if (bias.defined()) bias = bias.contiguous();
  work->spans = std::move(*spans);
  work->scale = call.scale;
  work->dropout = call.dropout;
  work->draw = call.draw;
  work->rows = strip_rows(call.mask, s.Lq);
  return CpuAttention::apply(call.q, call.k, call.v, bias.defined() ? std::optional<Tensor>(bias) : std::nullopt, work);
}

}  // namespace ordo
