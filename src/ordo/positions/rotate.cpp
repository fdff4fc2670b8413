// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/rotate.h"

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/stack.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <bit>

#include "ordo/ops/clones.h"

namespace ordo {

namespace {

// bf16 through its bits, so that the loops below become vector instructions.
template <class T, class Wide>
struct Number {
  static Wide widen(T x) { return static_cast<Wide>(x); }
  static T narrow(Wide x) { return static_cast<T>(x); }
};
template <>
struct Number<at::BFloat16, float> {
  static float widen(at::BFloat16 x) { return std::bit_cast<float>(static_cast<uint32_t>(x.x) << 16); }
  static at::BFloat16 narrow(float x) {  // to nearest, ties to even
    const auto bits = std::bit_cast<uint32_t>(x);
    const uint32_t rounded = x == x ? bits + 0x7FFF + ((bits >> 16) & 1) : 0x7FC00000;
    return {static_cast<uint16_t>(rounded >> 16), at::BFloat16::from_bits()};
  }
};

// The heads of one token, `stride` apart, and how its channels pair up.
struct Heads {
  int64_t count, from_stride, to_stride, pairs, width;
  RotaryLayout layout;
};

// `sign` is 1 for the turn, -1 for its transpose.
template <class T, class Wide>
inline __attribute__((always_inline)) void turn_token(const T* x, T* y, const Wide* cosines, const Wide* sines,
                                                      Wide sign, const Heads& h) {
  using Cast = Number<T, Wide>;
  for (int64_t n = 0; n < h.count; ++n, x += h.from_stride, y += h.to_stride) {
    const auto pair = [&](int64_t first, int64_t second, int64_t m) {
      const Wide a = Cast::widen(x[first]), b = Cast::widen(x[second]), c = cosines[m], s = sign * sines[m];
      y[first] = Cast::narrow(a * c - b * s);
      y[second] = Cast::narrow(b * c + a * s);
    };
    if (h.layout == RotaryLayout::half) {
#pragma omp simd
      for (int64_t m = 0; m < h.pairs; ++m) pair(m, m + h.pairs, m);
    } else {
#pragma omp simd
      for (int64_t m = 0; m < h.pairs; ++m) pair(2 * m, 2 * m + 1, m);
    }
    std::copy(x + 2 * h.pairs, x + h.width, y + 2 * h.pairs);
  }
}

ORDO_CLONES void turn_heads(const float* x, float* y, const float* c, const float* s, float sign, const Heads& h) {
  turn_token(x, y, c, s, sign, h);
}
ORDO_CLONES void turn_heads(const double* x, double* y, const double* c, const double* s, double sign, const Heads& h) {
  turn_token(x, y, c, s, sign, h);
}
ORDO_CLONES void turn_heads(const at::BFloat16* x, at::BFloat16* y, const float* c, const float* s, float sign,
                            const Heads& h) {
  turn_token(x, y, c, s, sign, h);
}
void turn_heads(const at::Half* x, at::Half* y, const float* c, const float* s, float sign, const Heads& h) {
  turn_token(x, y, c, s, sign, h);
}

template <class T>
void turn_rows(const Tensor& x, const Tensor& y, const Tensor& table, double sign, RotaryLayout layout) {
  using Wide = at::opmath_type<T>;
  const int64_t N = x.size(1), L = x.size(2), E = x.size(3), pairs = table.size(2) / 2;
  const int64_t table_row = table.size(0) == 1 ? 0 : table.stride(0);
  const Heads heads{
      .count = N, .from_stride = x.stride(1), .to_stride = y.stride(1), .pairs = pairs, .width = E, .layout = layout};
  const T* from = x.const_data_ptr<T>();
  T* to = y.mutable_data_ptr<T>();
  const Wide* rows = table.const_data_ptr<Wide>();
  constexpr int64_t kGrain = 16384;  // numbers worth a thread
  at::parallel_for(0, x.size(0) * L, std::max<int64_t>(1, kGrain / (N * E)), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t b = i / L, l = i % L;
      const Wide* cosines = rows + b * table_row + l * table.stride(1);
      turn_heads(from + b * x.stride(0) + l * x.stride(2), to + b * y.stride(0) + l * y.stride(2), cosines,
                 cosines + pairs, static_cast<Wide>(sign), heads);
    }
  });
}

Tensor turn_on_cpu(const Tensor& given, const Tensor& table, double sign, RotaryLayout layout) {
  const Tensor x = given.stride(3) == 1 ? given : given.contiguous();
  const Tensor y = at::empty_like(x);
  const Tensor t = table.stride(2) == 1 ? table : table.contiguous();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, x.scalar_type(), "rotate",
                                  [&] { turn_rows<scalar_t>(x, y, t, sign, layout); });
  return y;
}

Tensor turn_by_operators(const Tensor& x, const Tensor& table, double sign, RotaryLayout layout) {
  const int64_t r = table.size(2), pairs = r / 2;
  const bool half = layout == RotaryLayout::half;
  const Tensor turned = x.slice(3, 0, r).to(table.scalar_type());
  const Tensor a = half ? turned.slice(3, 0, pairs) : turned.slice(3, 0, r, 2);
  const Tensor b = half ? turned.slice(3, pairs) : turned.slice(3, 1, r, 2);
  const Tensor c = table.slice(2, 0, pairs).unsqueeze(1), s = table.slice(2, pairs).unsqueeze(1) * sign;
  const Tensor first = a * c - b * s, second = b * c + a * s;
  const Tensor joined =
      (half ? at::cat({first, second}, 3) : at::stack({first, second}, 4).flatten(3)).to(x.scalar_type());
  return r == x.size(3) ? joined : at::cat({joined, x.slice(3, r)}, 3);
}

Tensor turn(const Tensor& x, const Tensor& table, double sign, RotaryLayout layout) {
  return x.is_cpu() ? turn_on_cpu(x, table, sign, layout) : turn_by_operators(x, table, sign, layout);
}

// The transpose of a turn, also of one that scales its pairs, is the turn backwards: nothing but the table is kept for
// the gradient.
struct Rotation : torch::autograd::Function<Rotation> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& x, const Tensor& table, int64_t layout) {
    ctx->save_for_backward({table});
    ctx->saved_data["layout"] = layout;
    return turn(x, table, 1.0, static_cast<RotaryLayout>(layout));
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    const auto layout = static_cast<RotaryLayout>(ctx->saved_data["layout"].toInt());
    return {turn(grads[0], ctx->get_saved_variables()[0], -1.0, layout), Tensor(), Tensor()};
  }
};

}  // namespace

Tensor rotary_frequencies(double theta, int64_t rotary_dim) {
  return at::pow(theta,
                 at::arange(rotary_dim / 2, at::TensorOptions(at::kDouble)) * (-2.0 / static_cast<double>(rotary_dim)));
}

Tensor turns(const Tensor& angles, double factor) {
  const Tensor table = at::cat({angles.cos(), angles.sin()}, -1);
  return factor == 1.0 ? table : table * factor;
}

Tensor rotate(const Tensor& x, const Tensor& table, RotaryLayout layout) {
  const auto [B, N, L, E] = sizes<4>(x, "x [B, N, L, E]");
  const auto [rows, length, r] = sizes<3>(table, "table [1|B, L, r]");
  ORDO_ASSERT((rows == 1 || rows == B) && length == L && r <= E && r % 2 == 0 && N > 0);
  ORDO_ASSERT(table.scalar_type() == accumulate_type(x.scalar_type()));
  return Rotation::apply(x, table, static_cast<int64_t>(layout));
}

}  // namespace ordo
