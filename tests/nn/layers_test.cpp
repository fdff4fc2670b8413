// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>

#include "ordo/nn/layers.h"
#include "ordo/nn/precision.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

Tensor normal(at::IntArrayRef shape, uint64_t key, double std = 1.0) {
  const Tensor t = at::empty(shape);
  draw_normal(t, std, key);
  return t;
}

// Every parameter drawn, biases and norm weights too, so that none of them can be forgotten unseen.
void draw_all(torch::nn::Module& module) {
  uint64_t key = 100;
  for (const Tensor& p : module.parameters()) draw_normal(p.detach(), 1.0, ++key);
}

}  // namespace

TEST_CASE("linear: x times the transposed weight, plus the bias", "[unit]") {
  Linear layer(6, 4, {});
  draw_all(layer);
  const Tensor x = normal({2, 3, 6}, 1);
  CHECK(close(layer.forward(x), at::matmul(x, layer.weight.t()) + layer.bias, Tolerance::fp32_sum));
  CHECK_FALSE(Linear(6, 4, {.bias = false}).bias.defined());
}

TEST_CASE("embedding: each id gets its row", "[unit]") {
  Embedding embedding(5, 3);
  draw_all(embedding);
  const Tensor ids = at::arange(4, -1, -1).unsqueeze(0);
  CHECK(same_bytes(embedding.forward(ids)[0], embedding.weight.flip(0).contiguous()));
}

TEST_CASE("norm: LayerNorm and RMSNorm follow their formulas", "[unit]") {
  const Tensor x = normal({3, 5, 16}, 2) + 0.5;
  const Tensor mean = x.mean(-1, true), variance = (x - mean).square().mean(-1, true);
  Norm layer(16, NormKind::layer, /*bias=*/true, 1e-3), rms(16, NormKind::rms, /*bias=*/true, 1e-3);
  draw_all(layer);
  draw_all(rms);
  CHECK(
      close(layer.forward(x), (x - mean) * (variance + 1e-3).rsqrt() * layer.weight + layer.bias, Tolerance::fp32_sum));
  CHECK(close(rms.forward(x), x * (x.square().mean(-1, true) + 1e-3).rsqrt() * rms.weight, Tolerance::fp32_sum));
  CHECK_FALSE(rms.bias.defined());  // RMSNorm has none
}

TEST_CASE("norm: RMSNorm's gradients are those of its formula", "[unit]") {
  const Tensor x = normal({7, 130}, 8).to(at::kDouble).requires_grad_(), y = x.detach().clone().requires_grad_();
  const Tensor seed = normal({7, 130}, 9).to(at::kDouble);
  Norm rms(130, NormKind::rms, /*bias=*/false, 1e-3);
  rms.to(at::kDouble);
  draw_all(rms);
  const Tensor weight = rms.weight.detach().clone().requires_grad_();
  (rms.forward(x) * seed).sum().backward();
  (y * (y.square().mean(-1, true) + 1e-3).rsqrt() * weight * seed).sum().backward();
  CHECK(close(x.grad(), y.grad(), Tolerance::fp64));
  CHECK(close(rms.weight.grad(), weight.grad(), Tolerance::fp64));
}

TEST_CASE("norm: bf16 inputs have fp32 statistics and bf16 outputs", "[unit]") {
  const Tensor x = normal({4, 512}, 3) * 30.0 + 20.0;
  for (const NormKind kind : {NormKind::layer, NormKind::rms}) {
    Norm norm(512, kind, /*bias=*/false);
    const Tensor low = norm.forward(x.to(at::kBFloat16));
    CHECK(low.scalar_type() == at::kBFloat16);
    CHECK(close(low, norm.forward(x.to(at::kBFloat16).to(at::kFloat)),
                Tolerance{1e-3, 8e-3}));  // rounded once, at the end
  }
}

TEST_CASE("dropout: a mask of the site's own in training, nothing in evaluation", "[unit]") {
  Dropout dropout(0.25);
  dropout.site(9);
  const Tensor x = at::ones({1000});
  const Draw draw{.seed = 1, .step = 2};
  CHECK(same_bytes(dropout.forward(x, draw), ordo::dropout(x, 0.25, draw.key(9))));
  dropout.eval();
  CHECK(dropout.forward(x, draw).is_same(x));
}

TEST_CASE("drop path: whole rows are dropped with the given probability, the rest scaled so that the mean stays",
          "[unit]") {
  DropPath path(0.2);
  const Tensor out = path.forward(at::ones({20000, 2, 3}), {.seed = 4});
  CHECK((out == out.select(1, 0).select(1, 0).view({-1, 1, 1})).all().item<bool>());  // one fate a row
  CHECK((out == 0.0).to(at::kDouble).mean().item<double>() == Approx(0.2).margin(0.01));
  CHECK(out.max().item<double>() == Approx(1.25));
}

TEST_CASE("drop path: what stays of a bf16 branch is rounded once", "[unit]") {
  DropPath path(0.3);
  const Tensor branch = normal({64, 16}, 3).to(at::kBFloat16), wide = branch.to(at::kFloat);
  const Tensor out = path.forward(branch, {.seed = 4});
  CHECK(out.scalar_type() == at::kBFloat16);
  CHECK(same_bytes(out, path.forward(wide, {.seed = 4}).to(at::kBFloat16)));
}

TEST_CASE("norm: an input of another width is named with both widths", "[unit]") {
  CHECK_THROWS_WITH(Norm(16, NormKind::rms, false).forward(normal({2, 8}, 1)),
                    "RMSNorm: x is 8 wide, the layer was built for 16");
}

TEST_CASE("feed-forward: the gate's activation multiplies the second projection", "[unit]") {
  FeedForward layer({.hidden = 24, .activation = Activation::silu, .gated = true}, 8, /*bias=*/true, 0.0);
  draw_all(layer);
  const auto p = layer.named_parameters();
  const Tensor x = normal({2, 8}, 5);
  const auto linear = [&](const Tensor& t, const std::string& name) {
    return at::matmul(t, p[name + ".weight"].t()) + p[name + ".bias"];
  };
  const Tensor gate = linear(x, "gate");
  CHECK(close(layer.forward(x, {}), linear(gate * at::sigmoid(gate) * linear(x, "up"), "down"), Tolerance::fp32_sum));
}

TEST_CASE("feed-forward: without a gate, activation between two projections", "[unit]") {
  FeedForward layer({.activation = Activation::relu}, 8, /*bias=*/false, 0.0);
  draw_all(layer);
  const auto p = layer.named_parameters();
  const Tensor x = normal({2, 8}, 6);
  CHECK(close(layer.forward(x, {}), at::matmul(at::relu(at::matmul(x, p["up.weight"].t())), p["down.weight"].t()),
              Tolerance::fp32_sum));
  CHECK(p.size() == 2);
}

TEST_CASE("feed-forward: the width left open is 4 x dim, or 8/3 x dim up to a multiple of 8 when gated", "[unit]") {
  CHECK(FeedForward::width({}, 96) == 384);
  CHECK(FeedForward::width({.gated = true}, 96) == 256);
  CHECK(FeedForward::width({.gated = true}, 100) == 272);
  CHECK(FeedForward::width({.hidden = 7, .gated = true}, 96) == 7);
}

TEST_CASE("feed-forward: its dropout acts on the inner activations", "[unit]") {
  FeedForward layer({.hidden = 4}, 4, /*bias=*/false, 0.999999);
  draw_all(layer);
  CHECK(layer.forward(normal({2, 4}, 7), {.seed = 1}).abs().max().item<double>() == 0.0);
}

TEST_CASE("precision: bf16 and fp16 are autocast types, fp32 is none", "[unit]") {
  CHECK_FALSE(autocast_of(Precision::fp32).enabled);
  CHECK(autocast_of(Precision::bf16).dtype == at::kBFloat16);
  CHECK(autocast_of(Precision::fp16).dtype == at::kHalf);
  CHECK(autocast_of(Precision::fp16).enabled);
}

}  // namespace ordo::test
