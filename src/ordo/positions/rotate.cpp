// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/rotate.h"

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/stack.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

namespace ordo {

namespace {

// One head's row: `sign` is 1 for the turn, -1 for its transpose.
template <class T, class Wide>
void turn_row(const T* x, T* y, const Wide* cosines, const Wide* sines, Wide sign, int64_t pairs, int64_t E,
              RotaryLayout layout) {
  const bool half = layout == RotaryLayout::half;
  const int64_t step = half ? 1 : 2, apart = half ? pairs : 1;
#pragma omp simd
  for (int64_t m = 0; m < pairs; ++m) {
    const Wide a = static_cast<Wide>(x[m * step]), b = static_cast<Wide>(x[m * step + apart]);
    const Wide c = cosines[m], s = sign * sines[m];
    y[m * step] = static_cast<T>(a * c - b * s);
    y[m * step + apart] = static_cast<T>(b * c + a * s);
  }
  std::copy(x + 2 * pairs, x + E, y + 2 * pairs);
}

template <class T>
void turn_rows(const Tensor& x, const Tensor& y, const Tensor& table, double sign, RotaryLayout layout) {
  using Wide = at::opmath_type<T>;
  const int64_t N = x.size(1), L = x.size(2), E = x.size(3), pairs = table.size(2) / 2;
  const int64_t table_row = table.size(0) == 1 ? 0 : table.stride(0);
  const T* from = x.const_data_ptr<T>();
  T* to = y.mutable_data_ptr<T>();
  const Wide* rows = table.const_data_ptr<Wide>();
  const int64_t grain = std::max<int64_t>(1, 16384 / (N * E));
  at::parallel_for(0, x.size(0) * L, grain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t b = i / L, l = i % L;
      const Wide* row = rows + b * table_row + l * table.stride(1);
      for (int64_t n = 0; n < N; ++n)
        turn_row<T, Wide>(from + b * x.stride(0) + n * x.stride(1) + l * x.stride(2),
                          to + b * y.stride(0) + n * y.stride(1) + l * y.stride(2), row, row + pairs,
                          static_cast<Wide>(sign), pairs, E, layout);
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

// A rotation is orthogonal, so its gradient is the turn backwards: nothing but the table is kept.
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

Tensor rotate(const Tensor& x, const Tensor& table, RotaryLayout layout) {
  const auto [B, N, L, E] = sizes<4>(x, "x [B, N, L, E]");
  const auto [rows, length, r] = sizes<3>(table, "table [1|B, L, r]");
  ORDO_ASSERT((rows == 1 || rows == B) && length == L && r <= E && r % 2 == 0 && N > 0);
  ORDO_ASSERT(table.scalar_type() == accumulate_type(x.scalar_type()));
  return Rotation::apply(x, table, static_cast<int64_t>(layout));
}

}  // namespace ordo
