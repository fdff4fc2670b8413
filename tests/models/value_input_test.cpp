// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/models/value_input.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>

#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

std::shared_ptr<ValueInput> value_layer(const ValueInput::Config& config, int64_t channels = 1, int64_t dim = 4) {
  auto layer = std::make_shared<ValueInput>(config, InputFacts{.dim = dim, .signal = {.channels = channels}});
  for (auto& p : layer->parameters()) p.detach().copy_(at::arange(p.numel(), at::kFloat).view(p.sizes()) * 0.1 - 0.3);
  return layer;
}

Tensor weight_of(ValueInput& layer) { return layer.named_parameters()["project.weight"]; }
Tensor bias_of(ValueInput& layer) { return layer.named_parameters()["project.bias"]; }

ModelInput series_input(const Tensor& signal) {
  return {.ids = {}, .at = consecutive(0, signal.size(1), at::kCPU), .signal = signal};
}

}  // namespace

TEST_CASE("values: patches of a series are as many as PatchTST counts, and none is cut", "[unit]") {
  CHECK(value_layer({.patch = 16, .stride = 8, .pad_end = true})->tokens(96) == 12);
  CHECK(value_layer({.patch = 16, .stride = 8, .pad_end = true})->tokens(336) == 42);
  CHECK(value_layer({.patch = 16, .stride = 8})->tokens(96) == 11);
  CHECK(value_layer({.patch = 4})->tokens(11) == 2);
  CHECK(value_layer({})->tokens(11) == 11);
  CHECK(contains(thrown<ConfigError>([] { value_layer({.patch = 16})->tokens(8); }),
                 "model.input.patch (16) is longer than rows of 8 steps"));
}

TEST_CASE("values: a token is a linear map of the steps of its patch", "[unit]") {
  const auto layer = value_layer({.patch = 3, .stride = 2, .pad_end = true});
  const Tensor x = at::tensor({1.0F, 2.0F, 4.0F, 8.0F, 16.0F, 32.0F}).view({1, 6, 1});
  const Tensor made = layer->forward(series_input(x)).x;
  const Tensor patches =
      at::tensor({1.0F, 2.0F, 4.0F, 4.0F, 8.0F, 16.0F, 16.0F, 32.0F, 32.0F}).view({1, 3, 3});  // 32 is repeated
  CHECK(close(made, at::linear(patches, weight_of(*layer), bias_of(*layer)), Tolerance::fp32));
}

TEST_CASE("values: a patch of one step has all channels of that step", "[unit]") {
  const auto layer = value_layer({}, /*channels=*/3);
  const Tensor x = at::randn({2, 5, 3});
  CHECK(close(layer->forward(series_input(x)).x, at::linear(x, weight_of(*layer), bias_of(*layer)), Tolerance::fp32));
}

TEST_CASE("values: a token stands at the last step of its patch, and is real when one step is", "[unit]") {
  const auto layer = value_layer({.patch = 2, .stride = 2, .pad_end = true});
  ModelInput in = series_input(at::ones({1, 5, 1}));
  in.at.coords = at::tensor({10.0, 11.0, 15.0, 16.0, 30.0}, at::kDouble).view({1, 5, 1});
  in.mask.keys = at::tensor({0, 0, 0, 1, 1}).to(at::kBool).view({1, 5});
  const Embedded made = layer->forward(in);
  CHECK(made.x.size(1) == 3);
  CHECK(same_bytes(made.at.index, at::tensor({0, 1, 2}, at::kLong).view({1, 3})));
  CHECK(same_bytes(made.at.coords.contiguous(), at::tensor({11.0, 16.0, 30.0}, at::kDouble).view({1, 3, 1})));
  CHECK(same_bytes(made.mask.keys.contiguous(), at::tensor({0, 1, 1}).to(at::kBool).view({1, 3})));
}

TEST_CASE("values: what is no series, or has other channels, is refused", "[unit]") {
  CHECK(contains(thrown<ConfigError>([] { ValueInput({}, {.dim = 4, .vocab_size = 5}); }),
                 "the data of this task are token ids; use model.input: tokens"));
  CHECK(contains(
      thrown<ConfigError>([] { ValueInput({}, {.dim = 4, .signal = {.channels = 1, .height = 8, .width = 8}}); }),
      "the data of this task are images"));
  CHECK(contains(thrown<Error>([] {
                   value_layer({})->forward(series_input(at::ones({1, 5, 2})));
                 }),
                 "a series has 2 channels, the input layer was built for 1"));
}

}  // namespace ordo::test
