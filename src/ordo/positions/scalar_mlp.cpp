// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/scalar_mlp.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mv.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <vector>

namespace ordo {

using at::Tensor;

namespace {
constexpr int64_t kScalarMlpChunk = 1 << 14;  // numbers at a time: their hidden layer stays in the cache

// body(from, to) over chunks of n numbers.
template <class Body>
void scalar_mlp_chunks(int64_t n, const Body& body) {
  for (int64_t from = 0; from < n; from += kScalarMlpChunk) body(from, std::min(n, from + kScalarMlpChunk));
}

// [hidden, n], before the ReLU.
Tensor scalar_mlp_inner(const Tensor& x, const Tensor& w1, const Tensor& b1) {
  return at::addmm(b1.unsqueeze(1), w1.unsqueeze(1), x.unsqueeze(0));
}

class ScalarMlp : public torch::autograd::Function<ScalarMlp> {
 public:
  // x [n] -> [H, n]
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& x, const Tensor& w1, const Tensor& b1,
                        const Tensor& w2, const Tensor& b2) {
    ctx->save_for_backward({x, w1, b1, w2});
    const Tensor out = at::empty({w2.size(0), x.size(0)}, x.options());
    scalar_mlp_chunks(x.size(0), [&](int64_t from, int64_t to) {
      const Tensor inner = scalar_mlp_inner(x.slice(0, from, to), w1, b1).relu_();
      out.slice(1, from, to).copy_(at::addmm(b2.unsqueeze(1), w2, inner));
    });
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = ctx->get_saved_variables();
    const Tensor &x = saved[0], &w1 = saved[1], &b1 = saved[2], &w2 = saved[3], &dout = gradients[0];
    const Tensor dx = at::empty_like(x), dw1 = at::zeros_like(w1), db1 = at::zeros_like(b1), dw2 = at::zeros_like(w2);
    scalar_mlp_chunks(x.size(0), [&](int64_t from, int64_t to) {
      const Tensor part = x.slice(0, from, to), d = dout.slice(1, from, to);
      const Tensor inner = scalar_mlp_inner(part, w1, b1), hidden = inner.relu();
      dw2.addmm_(d, hidden.t());
      const Tensor dinner = at::mm(w2.t(), d).masked_fill_(inner <= 0, 0.0);
      dw1.add_(at::mv(dinner, part));
      db1.add_(dinner.sum(1));
      dx.slice(0, from, to).copy_(at::mv(dinner.t(), w1));
    });
    return {dx, dw1, db1, dw2, dout.sum(1)};
  }
};
}  // namespace

Tensor scalar_mlp(const Tensor& x, const Tensor& w1, const Tensor& b1, const Tensor& w2, const Tensor& b2) {
  std::vector<int64_t> shape{w2.size(0)};
  shape.insert(shape.end(), x.sizes().begin(), x.sizes().end());
  return ScalarMlp::apply(x.reshape({-1}), w1, b1, w2, b2).view(shape);
}

}  // namespace ordo
