// SPDX-License-Identifier: Apache-2.0
#include "ordo/attention/cpu_pass.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "ordo/attention/products.h"
#include "ordo/attention/score_rows.h"
#include "ordo/ops/draw.h"

namespace ordo {

int64_t table_lanes(int64_t B, int64_t H) {
  constexpr int64_t kEnough = 16;  // shares of work
  return std::clamp<int64_t>(at::divup(kEnough, H), 1, B);
}

// BLAS wants the numbers of a row side by side, and rows that do not overlap (as those of an expanded tensor would).
Tensor with_dense_rows(const Tensor& t) {
  const bool side_by_side = t.stride(3) == 1 || t.size(3) == 1, apart = t.stride(2) >= t.size(3) || t.size(2) == 1;
  return side_by_side && apart ? t : t.contiguous();
}

namespace {
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

struct Shapes {
  Shapes(const CpuTensors& in)
      : B(in.q.size(0)),
        H(in.q.size(1)),
        G(in.k.size(1)),
        Lq(in.q.size(2)),
        Lk(in.k.size(2)),
        E(in.q.size(3)),
        Ev(in.v.size(3)) {}
  int64_t B, H, G, Lq, Lk, E, Ev;
};

template <class T>
class CpuPass {
 public:
  CpuPass(const CpuWork& work, const CpuTensors& in)
      : work_(work), in_(in), s_(in), most_rows_(std::min(work.rows, s_.Lq)), q_(in.q), k_(in.k), v_(in.v) {
    padding_ = in.queries.defined() || in.values.defined() ? most_rows_ : 0;
  }

  void forward(const Tensor& out, const Tensor& lse) const {
    const Heads<T> to(out);
    T* const lse_data = lse.mutable_data_ptr<T>();
    at::parallel_for(0, s_.B * s_.H * strips(), 1, [&](int64_t begin, int64_t end) {
      const Room room(*this, 1);
      std::vector<T> sums(static_cast<size_t>(most_rows_));
      for (int64_t i = begin; i < end; ++i) {
        const Strip strip = strip_of(i / strips(), i % strips(), room);
        forward_strip(strip, to.of(strip.b, strip.h).from(strip.q0), sums.data(),
                      lse_data + strip.bh * s_.Lq + strip.q0);
      }
    });
  }

  void backward(const Tensor& out, const Tensor& lse, const Tensor& dout, const CpuGradients& g) const {
    const bool tables = g.queries.defined() || g.keys.defined() || g.values.defined();
    const int64_t lanes = tables ? table_lanes(s_.B, s_.H) : s_.B;
    at::parallel_for(0, lanes * s_.H, 1, [&](int64_t begin, int64_t end) {
      const Room room(*this, 2);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t lane = i / s_.H, h = i % s_.H;
        for (int64_t b = lane * s_.B / lanes; b < (lane + 1) * s_.B / lanes; ++b)
          for (int64_t j = 0; j < strips(); ++j)
            backward_strip(strip_of(b * s_.H + h, j, room), out, lse, dout, g, lane);
      }
    });
  }

 private:
  // One thread's buffers of scores, a padding's room before each, and of one block of the keys' table.
  struct Room {
    Room(const CpuPass& pass, int64_t buffers) : room(at::empty({buffers * pass.room_size()}, pass.in_.q.options())) {
      if (pass.in_.keys.defined()) block.resize(static_cast<size_t>(kKeyBlock * (kKeyBlock + pass.most_rows_)));
    }
    Tensor room;
    mutable std::vector<T> block;
  };
  static constexpr int64_t kKeyBlock = 16;  // columns: few enough that most of a block's product is used

  struct Strip {
    int64_t bh, b, h, group, q0, k0;
    int64_t entry;  // of the tables: the first one that the strip needs
    ScoreStrip<T> scores;
    T *second, *block;
  };

  int64_t strips() const { return at::divup(s_.Lq, work_.rows); }
  // Aligned, and hardly ever a power of two. Where products fall outside of a strip, no further than needed: the room
  // between rows is cleared each time.
  int64_t stride_for(int64_t columns) const {
    return at::divup((padding_ > 0 ? columns : s_.Lk) + padding_, 16) * 16 + 16;
  }
  int64_t room_size() const { return padding_ + most_rows_ * stride_for(s_.Lk); }

  Strip strip_of(int64_t bh, int64_t i, const Room& room) const {
    const int64_t b = bh / s_.H, h = bh % s_.H, q0 = i * work_.rows, q1 = std::min(s_.Lq, q0 + work_.rows);
    const auto [k0, k1] = work_.spans.columns(b, q0, q1, s_.Lq);
    const size_t at = work_.spans.place(b, q0, s_.Lq);
    const int64_t stride = stride_for(k1 - k0);
    T* const first = room.room.template mutable_data_ptr<T>() + padding_;
    Strip strip{.bh = bh,
                .b = b,
                .h = h,
                .group = h / (s_.H / s_.G),
                .q0 = q0,
                .k0 = k0,
                .entry = k0 - q1 + s_.Lq,
                .scores = {.scores = first,
                           .stride = stride,
                           .rows = q1 - q0,
                           .columns = k1 - k0,
                           .first = k0,
                           .low = work_.spans.low.data() + at,
                           .high = work_.spans.high.data() + at,
                           .padding = padding_ > 0 ? stride - (k1 - k0) : 0},
                .second = first + room_size(),
                .block = room.block.data()};
    if (work_.form != BiasForm::none) {
      const auto [place, step] = bias_place(strip);
      strip.scores.bias =
          in_.bias.const_data_ptr<T>() + (in_.bias.size(0) == 1 ? 0 : b * s_.H * in_.bias.size(2)) + place;
      strip.scores.bias_step = step;
    }
    if (work_.hidden.defined()) strip.scores.keys = work_.hidden.const_data_ptr<T>() + b * s_.Lk + k0;
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
  // The entries of a table, or of its gradient, from the strip's first on.
  Rows<const T> table(const Tensor& t, const Strip& s) const {
    return Rows<const T>{t.const_data_ptr<T>() + (t.size(0) == 1 ? 0 : s.h * t.stride(0)), t.size(2)}.from(s.entry);
  }
  Rows<T> gradient_of(const Tensor& t, const Strip& s, int64_t lane) const {
    return Rows<T>{t.mutable_data_ptr<T>() + lane * t.stride(0) + s.h * t.stride(1), t.size(3)}.from(s.entry);
  }
  int64_t entries(const Strip& s) const { return s.scores.rows + s.scores.columns - 1; }
  // A strip's numbers as a matrix over the entries of a table.
  Rows<T> over_entries(const Strip& s, T* data) const { return {data - (s.scores.rows - 1), s.scores.stride + 1}; }
  // What stands before row 0, and the products of tables fill.
  void clear_before(const Strip& s, T* data) const { std::fill_n(data - (s.scores.rows - 1), s.scores.rows - 1, T(0)); }

  void form_scores(const Strip& s) const {
    const int64_t n = s.scores.rows, m = s.scores.columns;
    multiply({.m = n, .n = m, .k = s_.E, .b_transposed = true, .alpha = work_.scale}, queries(s), keys(s),
             Rows<T>{s.scores.scores, s.scores.stride});
    if (in_.queries.defined())
      multiply({.m = n, .n = entries(s), .k = s_.E, .b_transposed = true, .alpha = work_.scale, .beta = 1.0},
               queries(s), table(in_.queries, s), over_entries(s, s.scores.scores));
    if (in_.keys.defined()) add_keys_table(s);
  }

  // Calls body(first column of a block, its columns, their entries) for the blocks of a strip's columns.
  template <class Body>
  void each_key_block(const Strip& s, const Body& body) const {
    for (int64_t c = 0; c < s.scores.columns; c += kKeyBlock) {
      const int64_t width = std::min(kKeyBlock, s.scores.columns - c);
      body(c, width, s.scores.rows + width - 1);
    }
  }
  void add_keys_table(const Strip& s) const {
    const Rows<const T> entry = table(in_.keys, s);
    each_key_block(s, [&](int64_t c, int64_t width, int64_t count) {
      multiply({.m = width, .n = count, .k = s_.E, .b_transposed = true, .alpha = work_.scale}, keys(s).from(c),
               entry.from(c), Rows<T>{s.block, count});
      add_turned(s.block, s.scores.rows, width, s.scores.scores + c, s.scores.stride);
    });
  }
  void keys_table_backward(const Strip& s, Rows<T> dk, const Tensor& gradient, int64_t lane) const {
    const Rows<const T> entry = table(in_.keys, s);
    each_key_block(s, [&](int64_t c, int64_t width, int64_t count) {
      turn(s.second + c, s.scores.stride, s.scores.rows, width, s.block);
      const Rows<const T> turned{s.block, count};
      multiply({.m = width, .n = s_.E, .k = count, .alpha = work_.scale, .beta = 1.0}, turned, entry.from(c),
               dk.from(c));
      if (gradient.defined())
        multiply({.m = count, .n = s_.E, .k = width, .a_transposed = true, .alpha = work_.scale, .beta = 1.0}, turned,
                 keys(s).from(c), gradient_of(gradient, s, lane).from(c));
    });
  }

  void drop(const Strip& s, T* data) const {
    if (work_.dropout == 0.0) return;
    for (int64_t r = 0; r < s.scores.rows; ++r)
      dropout_run(data + r * s.scores.stride, (s.bh * s_.Lq + s.q0 + r) * s_.Lk + s.k0, s.scores.columns, work_.dropout,
                  work_.draw);
  }

  void forward_strip(const Strip& s, Rows<T> out, T* sums, T* lse) const {
    const int64_t n = s.scores.rows, m = s.scores.columns;
    if (m == 0) {
      for (int64_t r = 0; r < n; ++r) std::fill_n(out.data + r * out.stride, s_.Ev, T(0));
      std::fill_n(lse, n, T(0));
      return;
    }
    form_scores(s);
    softmax_strip(s.scores, sums, lse);
    drop(s, s.scores.scores);
    multiply({.m = n, .n = s_.Ev, .k = m}, Rows<const T>{s.scores.scores, s.scores.stride}, values(s), out);
    if (in_.values.defined()) {
      clear_before(s, s.scores.scores);
      multiply({.m = n, .n = s_.Ev, .k = entries(s), .beta = 1.0}, as_const(over_entries(s, s.scores.scores)),
               table(in_.values, s), out);
    }
    divide_rows(out.data, out.stride, n, s_.Ev, sums);
  }

  static Rows<const T> as_const(Rows<T> rows) { return {rows.data, rows.stride}; }

  // `second` becomes the gradient of the scores, `scores` the weights as they met the values.
  void weights_backward(const Strip& s, Rows<const T> grad, const Tensor& out, const Tensor& lse,
                        const Tensor& dbias) const {
    const int64_t n = s.scores.rows, m = s.scores.columns;
    form_scores(s);
    multiply({.m = n, .n = m, .k = s_.Ev, .b_transposed = true}, grad, values(s), Rows<T>{s.second, s.scores.stride});
    if (in_.values.defined())
      multiply({.m = n, .n = entries(s), .k = s_.Ev, .b_transposed = true, .beta = 1.0}, grad, table(in_.values, s),
               over_entries(s, s.second));
    drop(s, s.second);
    const Rows<const T> o = Heads<const T>(out).of(s.b, s.h).from(s.q0);
    T delta[kMostStripRows];
    row_products(o.data, o.stride, grad.data, grad.stride, n, s_.Ev, delta);
    T* const to =
        dbias.defined() ? dbias.mutable_data_ptr<T>() + s.b * s_.H * dbias.size(2) + bias_place(s).first : nullptr;
    softmax_strip_backward(s.scores, s.second, lse.const_data_ptr<T>() + s.bh * s_.Lq + s.q0, delta, to);
    drop(s, s.scores.scores);
  }

  void backward_strip(const Strip& s, const Tensor& out, const Tensor& lse, const Tensor& dout, const CpuGradients& g,
                      int64_t lane) const {
    const Rows<T> dq = Heads<T>(g.dq).of(s.b, s.h).from(s.q0);
    const int64_t n = s.scores.rows, m = s.scores.columns;
    if (m == 0) {
      for (int64_t r = 0; r < n; ++r) std::fill_n(dq.data + r * dq.stride, s_.E, T(0));
      return;
    }
    const Rows<const T> grad = Heads<const T>(dout).of(s.b, s.h).from(s.q0);
    const Rows<T> dk = Heads<T>(g.dk).of(s.b, s.h).from(s.k0), dv = Heads<T>(g.dv).of(s.b, s.h).from(s.k0);
    weights_backward(s, grad, out, lse, g.bias);
    const Rows<const T> p{s.scores.scores, s.scores.stride}, ds{s.second, s.scores.stride};
    const double scale = work_.scale;
    multiply({.m = m, .n = s_.Ev, .k = n, .a_transposed = true, .beta = 1.0}, p, grad, dv);
    multiply({.m = n, .n = s_.E, .k = m, .alpha = scale}, ds, keys(s), dq);
    multiply({.m = m, .n = s_.E, .k = n, .a_transposed = true, .alpha = scale, .beta = 1.0}, ds, queries(s), dk);
    if (g.values.defined()) {
      clear_before(s, s.scores.scores);
      multiply({.m = entries(s), .n = s_.Ev, .k = n, .a_transposed = true, .beta = 1.0},
               as_const(over_entries(s, s.scores.scores)), grad, gradient_of(g.values, s, lane));
    }
    if (in_.queries.defined()) queries_table_backward(s, dq, g.queries, lane);
    if (in_.keys.defined()) keys_table_backward(s, dk, g.keys, lane);
  }

  void queries_table_backward(const Strip& s, Rows<T> dq, const Tensor& gradient, int64_t lane) const {
    clear_before(s, s.second);
    const Rows<const T> ds = as_const(over_entries(s, s.second));
    multiply({.m = s.scores.rows, .n = s_.E, .k = entries(s), .alpha = work_.scale, .beta = 1.0}, ds,
             table(in_.queries, s), dq);
    if (gradient.defined())
      multiply(
          {.m = entries(s), .n = s_.E, .k = s.scores.rows, .a_transposed = true, .alpha = work_.scale, .beta = 1.0}, ds,
          queries(s), gradient_of(gradient, s, lane));
  }

  const CpuWork& work_;
  const CpuTensors& in_;
  Shapes s_;
  int64_t most_rows_, padding_;
  Heads<const T> q_, k_, v_;
};
}  // namespace

void strips_forward(const CpuWork& work, const CpuTensors& in, const Tensor& out, const Tensor& lse) {
  if (in.q.scalar_type() == at::kDouble)
    CpuPass<double>(work, in).forward(out, lse);
  else
    CpuPass<float>(work, in).forward(out, lse);
}

void strips_backward(const CpuWork& work, const CpuTensors& in, const Tensor& out, const Tensor& lse,
                     const Tensor& dout, const CpuGradients& gradients) {
  if (in.q.scalar_type() == at::kDouble)
    CpuPass<double>(work, in).backward(out, lse, dout, gradients);
  else
    CpuPass<float>(work, in).backward(out, lse, dout, gradients);
}

}  // namespace ordo
