// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/models/frame_input.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>

#include <algorithm>

#include "ordo/models/encoder.h"
#include "support/models.h"
#include "support/positions.h"
#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

constexpr int64_t kBands = 5;

std::shared_ptr<FrameInput> frame_layer(const FrameInput::Config& config) {
  auto layer = std::make_shared<FrameInput>(config, InputFacts{.dim = 8, .signal = {.channels = kBands}});
  initialise(*layer, /*seed=*/1, InitConfig{.std = 0.5}, /*layers=*/1);
  return layer;
}

// Rows of these lengths, beside each other, with anything but zeros behind their ends.
ModelInput frames(const std::vector<int64_t>& lengths) {
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  const Tensor ends = at::tensor(lengths).unsqueeze(1);
  return {.ids = {},
          .at = {},
          .mask = {.keys = at::arange(longest).unsqueeze(0).lt(ends)},
          .signal = noise({std::ssize(lengths), longest, kBands}, 3)};
}

ModelInput alone(const ModelInput& in, int64_t row, int64_t length) {
  return {.ids = {}, .at = {}, .signal = in.signal.slice(0, row, row + 1).slice(1, 0, length)};
}

}  // namespace

TEST_CASE("frames: a row gives the same tokens alone and beside longer ones", "[unit]") {
  const std::vector<int64_t> lengths{21, 1, 8, 13, 20};
  const ModelInput in = frames(lengths);
  for (const int64_t subsample : {1, 2, 4, 8}) {
    const auto layer = frame_layer({.subsample = subsample});
    const auto together = layer->forward(in);
    CHECK(together.x.size(1) == layer->tokens(21));
    for (int64_t row = 0; row < std::ssize(lengths); ++row) {
      const int64_t length = lengths[static_cast<size_t>(row)], tokens = layer->tokens(length);
      const auto [x, at, mask] = layer->forward(alone(in, row, length));
      INFO("subsample " << subsample << ", row " << row);
      CHECK(x.size(1) == tokens);
      CHECK(at.length() == tokens);
      CHECK(together.mask.keys[row].sum().item<int64_t>() == tokens);
      CHECK(close(together.x[row].slice(0, 0, tokens), x[0], Tolerance::fp32));
    }
  }
}

TEST_CASE("frames: a classifier says the same of a row whatever stands beside it", "[unit]") {
  Encoder::Config config{static_cast<const StackConfig&>(small_config("sinusoidal"))};
  config.max_length = 0;
  auto settings = std::make_shared<FrameInput::Config>();
  config.input = Choice<InputLayer>("frames");
  config.input.config = settings;
  Encoder model(config, {.outputs = 3, .pools = true, .signal = {.channels = kBands}, .max_length = 21, .seed = 1});
  model.eval();
  CHECK(model.max_length() == 6);
  const ModelInput in = frames({21, 6, 13});
  const Tensor together = model.pooled(in);
  CHECK(close(together[1], model.pooled(alone(in, 1, 6))[0], Tolerance::fp32));
  CHECK(close(together[2], model.pooled(alone(in, 2, 13))[0], Tolerance::fp32));
}

TEST_CASE("frames: a token hears the frames around it and no others", "[unit]") {
  const auto layer = frame_layer({.subsample = 4});
  const ModelInput in = alone(frames({24}), 0, 24);
  const Tensor before = layer->forward(in).x;
  for (int64_t frame = 0; frame < 24; ++frame) {
    ModelInput changed = in;
    changed.signal = in.signal.clone();
    changed.signal[0][frame] += 1.0;
    const Tensor moved = (layer->forward(changed).x - before).abs().sum(2)[0];
    for (int64_t token = 0; token < 6; ++token)  // kernel 3 twice, stride 2: three frames to each side
      CHECK((moved[token].item<double>() > 0.0) == (std::abs(frame - 4 * token) <= 3));
  }
}

TEST_CASE("frames: without thinning out, a linear map of each frame", "[unit]") {
  const auto layer = frame_layer({.subsample = 1});
  const ModelInput in = alone(frames({7}), 0, 7);
  const auto parameters = layer->named_parameters();
  CHECK(close(layer->forward(in).x, at::linear(in.signal, parameters["linear.weight"], parameters["linear.bias"]),
              Tolerance::fp32));
  CHECK(layer->flops_per_token() == 2.0 * kBands * 8);
  CHECK(frame_layer({.subsample = 4})->flops_per_token() == 2.0 * (8 * 8 + 3 * 8 * 8 + 2 * 3 * kBands * 8));
}

TEST_CASE("frames: settings and rows that cannot be are refused in words", "[unit]") {
  const auto refusal = [](const FrameInput::Config& config, const SignalFacts& signal) {
    return thrown<ConfigError>([&] { FrameInput(config, {.dim = 8, .vocab_size = 7, .signal = signal}); });
  };
  CHECK(contains(refusal({.subsample = 6}, {.channels = kBands}), "model.input.subsample (6) must be a power of 2"));
  CHECK(contains(refusal({.subsample = 6}, {.channels = kBands}), "4 or 8"));
  CHECK(contains(refusal({.subsample = 1, .channels = 4}, {.channels = kBands}), "model.input.channels is of"));
  CHECK(contains(refusal({.subsample = 1, .activation = Activation::relu}, {.channels = kBands}),
                 "model.input.activation is of"));
  CHECK(contains(refusal({}, {}), "the data of this task are token ids"));
  CHECK(contains(refusal({}, {.channels = 1, .height = 8, .width = 8}), "the data of this task are images"));

  const auto layer = frame_layer({});
  const auto row_refusal = [&](const ModelInput& in) { return thrown<Error>([&] { layer->forward(in); }); };
  ModelInput in = frames({9, 4});
  in.mask.keys[1][6] = true;
  CHECK(contains(row_refusal(in), "a frame behind padding"));
  in.mask.keys = at::ones({2, 8}, at::kBool);
  CHECK(contains(row_refusal(in), "mask.keys [2, 8] does not fit 2 rows of 9 frames"));
  CHECK(contains(row_refusal({.ids = {}, .at = {}, .signal = noise({2, 9, 4}, 1)}), "frames of 5 numbers"));
}

}  // namespace ordo::test
