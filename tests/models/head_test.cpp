// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/tensor.h>

#include <vector>

#include "ordo/models/model.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {
Tensor normal(at::IntArrayRef shape, uint64_t key) {
  const Tensor t = at::empty(shape);
  draw_normal(t, 1.0, key);
  return t;
}
}  // namespace

TEST_CASE("head: capped logits stay under the cap", "[unit]") {
  const Tensor weight = normal({7, 4}, 1), hidden = normal({2, 3, 4}, 2);
  const Tensor capped = Head(weight, 1.5).logits(hidden), plain = at::linear(hidden, weight);
  CHECK(close(capped, 1.5 * (plain / 1.5).tanh(), Tolerance::fp32));
}

TEST_CASE("head: its loss is the cross-entropy of its logits, summed over the targets that count", "[unit]") {
  const Head head(normal({7, 4}, 1), 2.0);
  const Tensor hidden = normal({2, 3, 4}, 2),
               targets = at::tensor(std::vector<int64_t>{0, 6, kIgnore, 2, kIgnore, 5}, at::kLong).view({2, 3});
  const Tensor scores = head.logits(hidden).log_softmax(-1).view({6, 7});
  const double want = -(scores[0][0] + scores[1][6] + scores[3][2] + scores[5][5]).item<double>();
  CHECK(head.loss(hidden, targets, {}).item<double>() == Approx(want));
}

TEST_CASE("head: losses token by token have the shape of the targets and add up to the loss", "[unit]") {
  const Head head(normal({7, 4}, 1), {});
  const Tensor hidden = normal({2, 3, 4}, 2),
               targets = at::tensor(std::vector<int64_t>{0, 6, kIgnore, 2, 1, 5}, at::kLong).view({2, 3});
  Tensor correct;
  const Tensor losses = head.token_losses(hidden, targets, &correct);
  CHECK(losses.sizes() == targets.sizes());
  CHECK(losses.sum().item<double>() == Approx(head.loss(hidden, targets, {}).item<double>()));
  CHECK(losses[0][2].item<double>() == 0.0);
  CHECK(same_bytes(correct, head.logits(hidden).argmax(-1) == targets));
}

}  // namespace ordo::test
