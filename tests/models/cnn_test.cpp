// SPDX-License-Identifier: Apache-2.0
// Convolutional models: how far they see, and TextCNN by hand.
#include "support/baselines.h"
#include "support/catch.h"

#include "ordo/models/cnn.h"

#include <ATen/ops/cat.h>

#include <cmath>

#include "support/tolerance.h"

namespace ordo::test {
namespace {

// The places of a row whose hidden states move when the token at `place` is another.
std::vector<int64_t> moved_by(Model& model, int64_t length, int64_t place) {
  const Tensor ids = some_ids(1, length);
  Tensor changed = ids.clone();
  changed[0][place] = (changed[0][place] + 1).remainder(kSmallVocabulary);
  const Tensor change =
      (evaluated(model, input_of(changed)) - evaluated(model, input_of(ids))).abs().amax(2).squeeze(0);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < length; ++i)
    if (change[i].item().toDouble() > 1e-6) places.push_back(i);
  return places;
}

std::vector<int64_t> every(int64_t from, int64_t to, int64_t step = 1) {
  std::vector<int64_t> places;
  for (int64_t i = from; i <= to; i += step) places.push_back(i);
  return places;
}

}  // namespace

TEST_CASE("cnn: dilation doubles from layer to layer, or is as given", "[unit]") {
  CHECK(moved_by(*baseline("kind: cnn, layers: 3"), 30, 4) == every(4, 4 + 2 * (1 + 2 + 4)));
  CHECK(moved_by(*baseline("kind: cnn, layers: 3, dilation: 1"), 30, 4) == every(4, 4 + 2 * 3));
  CHECK(moved_by(*baseline("kind: cnn, layers: 1, kernel: 4, dilation: 3"), 30, 4) == every(4, 4 + 3 * 3, 3));
  CHECK(moved_by(*baseline("kind: cnn, layers: 2, causal: false, dilation: [1, 3]"), 30, 15) == every(11, 19));
}

TEST_CASE("cnn: features of a row are the largest of each filter over all windows, zeros beyond its ends", "[unit]") {
  const c10::NoGradGuard no_gradients;
  const auto model =
      baseline("kind: cnn, layers: 0, features: {widths: [2, 3], filters: 4}", {.outputs = 3, .pools = true});
  const auto parameters = model->named_parameters();
  const Tensor ids = some_ids(1, 5), x = parameters["embedding.weight"].index_select(0, ids[0]);  // [5, D]
  std::vector<Tensor> expected;
  for (const int64_t width : {2, 3}) {
    const std::string end = std::to_string(width);
    draw_normal(parameters["features.bias" + end], 0.3, static_cast<uint64_t>(width));
    const Tensor zeros = at::zeros({width - 1, 16}), around = at::cat({zeros, x, zeros});
    Tensor largest = at::zeros({4});  // relu
    for (int64_t i = 0; i + width <= around.size(0); ++i) {
      const Tensor window = around.slice(0, i, i + width).t().unsqueeze(0);  // [1, D, width]
      const Tensor made =
          (parameters["features.weight" + end] * window).sum({1, 2}) + parameters["features.bias" + end];
      largest = largest.maximum(made);
    }
    expected.push_back(largest);
  }
  CHECK(close(model->pooled(input_of(ids))[0], at::cat(expected), Tolerance::fp32));
  CHECK(model->head().weight().sizes() == at::IntArrayRef({3, 8}));
}

TEST_CASE("cnn: parameters and FLOPs as one counts them by hand", "[unit]") {
  constexpr int64_t V = kSmallVocabulary, D = 16;
  const auto numbers = [](const Model& model) {
    int64_t all = 0;
    for (const auto& parameter : model.parameters()) all += parameter.numel();
    return all;
  };
  const int64_t norm = 2 * D, out = D * D + D;
  CHECK(numbers(*baseline("kind: cnn, layers: 2")) == 2 * V * D + 2 * (norm + 2 * D * D * 3 + 2 * D + out) + norm);
  CHECK(numbers(*baseline("kind: cnn, layers: 1, activation: relu, bias: false")) ==
        2 * V * D + D + D * D * 3 + D * D + D);
  const ModelFacts classes{.outputs = 3, .pools = true};
  CHECK(numbers(*baseline("kind: cnn, layers: 0", classes)) == V * D + (3 + 4 + 5) * D * 100 + 300 + 300 * 3 + 3);
  CHECK(baseline("kind: cnn, layers: 2")->cost(9).flops_per_token == 2.0 * (2 * (2 * D * D * 3 + D * D) + V * D));
  CHECK(baseline("kind: cnn, layers: 0", classes)->cost(10).flops_per_token ==
        Approx(2.0 * ((3 + 4 + 5) * D * 100 + 900 / 10.0)));
}

}  // namespace ordo::test
