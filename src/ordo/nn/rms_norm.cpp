// SPDX-License-Identifier: Apache-2.0
#include "ordo/nn/rms_norm.h"

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>

#include "ordo/ops/sequence.h"

namespace ordo {

namespace {

constexpr int64_t kRmsGrain = 16384;  // numbers worth a thread

template <class T, class Wide>
void norm_rows(const T* x, const Wide* weight, T* y, Wide* inverse, int64_t rows, int64_t D, double eps) {
  at::parallel_for(0, rows, std::max<int64_t>(1, kRmsGrain / D), [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r) {
      const T* from = x + r * D;
      T* to = y + r * D;
      Wide squares = 0;
#pragma omp simd reduction(+ : squares)
      for (int64_t j = 0; j < D; ++j) squares += static_cast<Wide>(from[j]) * static_cast<Wide>(from[j]);
      const Wide scale = 1 / std::sqrt(squares / static_cast<Wide>(D) + static_cast<Wide>(eps));
      inverse[r] = scale;
#pragma omp simd
      for (int64_t j = 0; j < D; ++j) to[j] = static_cast<T>(static_cast<Wide>(from[j]) * scale * weight[j]);
    }
  });
}

// dx = s (g w) - x s^3 mean(g w x), with s = 1 / rms.
template <class T, class Wide>
void norm_rows_backward(const T* grad, const T* x, const Wide* weight, const Wide* inverse, T* dx, int64_t rows,
                        int64_t D) {
  at::parallel_for(0, rows, std::max<int64_t>(1, kRmsGrain / D), [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r) {
      const T *g = grad + r * D, *from = x + r * D;
      T* to = dx + r * D;
      Wide dot = 0;
#pragma omp simd reduction(+ : dot)
      for (int64_t j = 0; j < D; ++j) dot += static_cast<Wide>(g[j]) * weight[j] * static_cast<Wide>(from[j]);
      const Wide s = inverse[r], along = dot * s * s * s / static_cast<Wide>(D);
#pragma omp simd
      for (int64_t j = 0; j < D; ++j)
        to[j] = static_cast<T>(s * static_cast<Wide>(g[j]) * weight[j] - along * static_cast<Wide>(from[j]));
    }
  });
}

// dw = sum over the rows of g x s. Threads share the columns, not the rows, so that the sums do not depend on their
// number.
template <class T, class Wide>
void weight_gradient(const T* grad, const T* x, const Wide* inverse, Wide* dw, int64_t rows, int64_t D) {
  constexpr int64_t kColumns = 64;
  at::parallel_for(0, (D + kColumns - 1) / kColumns, std::max<int64_t>(1, kRmsGrain / (rows * kColumns)),
                   [&](int64_t first, int64_t last) {
                     const int64_t begin = first * kColumns, end = std::min(D, last * kColumns);
                     for (int64_t r = 0; r < rows; ++r) {
                       const T *g = grad + r * D, *from = x + r * D;
                       const Wide s = inverse[r];
#pragma omp simd
                       for (int64_t j = begin; j < end; ++j)
                         dw[j] += static_cast<Wide>(g[j]) * static_cast<Wide>(from[j]) * s;
                     }
                   });
}

struct RmsNorm : torch::autograd::Function<RmsNorm> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& given, const at::Tensor& weight,
                            double eps) {
    const at::Tensor x = given.contiguous(), y = at::empty_like(x);
    const int64_t D = weight.size(0), rows = x.numel() / D;
    const at::Tensor inverse = at::empty({rows}, weight.options().requires_grad(false));
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, x.scalar_type(), "rms_norm", [&] {
      using Wide = at::opmath_type<scalar_t>;
      norm_rows<scalar_t, Wide>(x.const_data_ptr<scalar_t>(), weight.const_data_ptr<Wide>(),
                                y.mutable_data_ptr<scalar_t>(), inverse.mutable_data_ptr<Wide>(), rows, D, eps);
    });
    ctx->save_for_backward({x, weight, inverse});
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &inverse = saved[2];
    const at::Tensor g = grads[0].contiguous(), dx = at::empty_like(x), dw = at::zeros_like(weight);
    const int64_t D = weight.size(0), rows = x.numel() / D;
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, x.scalar_type(), "rms_norm_backward", [&] {
      using Wide = at::opmath_type<scalar_t>;
      const auto* gp = g.const_data_ptr<scalar_t>();
      const auto* xp = x.const_data_ptr<scalar_t>();
      const auto* sp = inverse.const_data_ptr<Wide>();
      norm_rows_backward<scalar_t, Wide>(gp, xp, weight.const_data_ptr<Wide>(), sp, dx.mutable_data_ptr<scalar_t>(),
                                         rows, D);
      weight_gradient<scalar_t, Wide>(gp, xp, sp, dw.mutable_data_ptr<Wide>(), rows, D);
    });
    return {dx, dw, at::Tensor()};
  }
};

}  // namespace

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  require(x.dim() > 0 && x.size(-1) == weight.size(0), "RMSNorm: x is {} wide, the layer was built for {}",
          x.dim() > 0 ? x.size(-1) : 0, weight.size(0));
  const bool own = x.is_cpu() && x.numel() > 0 && weight.scalar_type() == accumulate_type(x.scalar_type());
  if (own) return RmsNorm::apply(x, weight, eps);
  // One type in, so that LibTorch's fused implementation takes it.
  return at::rms_norm(x.to(weight.scalar_type()), weight.sizes(), weight, eps).to(x.scalar_type());
}

}  // namespace ordo
