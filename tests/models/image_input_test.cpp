// SPDX-License-Identifier: Apache-2.0
// From images to tokens: patches and feature maps.
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/tensor.h>

#include "ordo/config/config.h"
#include "ordo/models/encoder.h"
#include "ordo/models/encoder_decoder.h"
#include "ordo/models/feature_map_input.h"
#include "ordo/models/patch_input.h"
#include "ordo/models/recurrent.h"
#include "ordo/models/signal_text.h"
#include "support/models.h"
#include "support/position_text.h"
#include "support/positions.h"
#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

constexpr SignalFacts kImages{.channels = 2, .height = 4, .width = 6};

// A layer in a config, with the settings that `set` gives it.
template <class Layer, class Set>
Choice<InputLayer> input_layer(const Set& set) {
  auto config = std::make_shared<typename Layer::Config>();
  set(*config);
  Choice<InputLayer> choice(Layer::kKind);
  choice.config = config;
  return choice;
}

Choice<InputLayer> patches(int64_t size) {
  return input_layer<PatchInput>([&](auto& c) { c.size = size; });
}

ModelInput images(int64_t rows, uint64_t key = 7) {
  return {.ids = {}, .at = {}, .signal = noise({rows, kImages.channels, kImages.height, kImages.width}, key)};
}

std::shared_ptr<Encoder> image_encoder(const std::vector<Choice<PositionEncoding>>& position,
                                       const Choice<InputLayer>& input, Pool pool = Pool::mean) {
  Encoder::Config config{static_cast<const StackConfig&>(small_config())};
  config.max_length = 0;
  config.position = position;
  config.input = input;
  config.pool = pool;
  const ModelFacts facts{
      .outputs = 3, .pools = true, .signal = kImages, .max_length = kImages.height * kImages.width, .seed = 1};
  auto model = std::make_shared<Encoder>(config, facts);
  model->eval();
  return model;
}

Tensor logits(Encoder& model, const Tensor& signal) {
  return model.head().logits(model.pooled({.ids = {}, .at = {}, .signal = signal}));
}

// The patches of 2 x 2 pixels of 4 x 6 ones, in another order.
Tensor patches_moved(const Tensor& image) {
  const Tensor apart = image.reshape({-1, 2, 2, 2, 3, 2}).permute({0, 2, 4, 1, 3, 5}).reshape({-1, 6, 2, 2, 2});
  const Tensor moved = apart.index_select(1, at::tensor({4, 2, 0, 5, 1, 3}));
  return moved.reshape({-1, 2, 3, 2, 2, 2}).permute({0, 3, 1, 4, 2, 5}).reshape(image.sizes());
}

double largest_change(Encoder& model) {
  const Tensor image = images(2).signal;
  return (logits(model, image) - logits(model, patches_moved(image))).abs().max().item<double>();
}

}  // namespace

TEST_CASE("patches: one linear map a patch is a convolution whose stride is its kernel, read row by row", "[unit]") {
  PatchInput layer({.size = 2}, {.dim = 5, .signal = kImages});
  layer.weight.data().copy_(noise({5, 2, 2, 2}, 1));
  layer.bias.data().copy_(noise({5}, 2));
  const ModelInput in = images(3);
  const auto [x, at, mask] = layer.forward(in);
  const Tensor map = at::conv2d(in.signal, layer.weight, layer.bias, /*stride=*/2);
  CHECK(close(x, map.flatten(2).transpose(1, 2), Tolerance::fp32));
  CHECK(same_bytes(at.index, at::tensor({0L, 1L, 2L, 3L, 4L, 5L}).unsqueeze(0)));
  CHECK(same_bytes(at.coords[0],
                   at::tensor({0.0F, 0.0F, 0.0F, 1.0F, 0.0F, 2.0F, 1.0F, 0.0F, 1.0F, 1.0F, 1.0F, 2.0F}).view({6, 2})));
  CHECK(layer.tokens(kImages.height * kImages.width) == x.size(1));
  CHECK(layer.flops_per_token() == 2.0 * 5 * 2 * 2 * 2);
}

TEST_CASE("patches: scale_embedding multiplies them, too, and without biases there is none", "[unit]") {
  PatchInput plain({.size = 2}, {.dim = 4, .signal = kImages, .bias = false});
  PatchInput scaled({.size = 2}, {.dim = 4, .signal = kImages, .scaled = true, .bias = false});
  for (auto* layer : {&plain, &scaled}) layer->weight.data().copy_(noise({4, 2, 2, 2}, 1));
  const ModelInput in = images(1);
  CHECK(close(scaled.forward(in).x, plain.forward(in).x * 2.0, Tolerance::fp32));
  CHECK_FALSE(plain.bias.defined());
}

TEST_CASE("patches: what cannot be cut is refused in words", "[unit]") {
  const auto refusal = [](int64_t size, const SignalFacts& signal) {
    return thrown<ConfigError>([&] { PatchInput({.size = size}, {.dim = 4, .vocab_size = 7, .signal = signal}); });
  };
  CHECK(refusal(3, kImages) ==
        "model.input.size (3) must divide both sides of the images, which have 4 rows and 6 columns");
  CHECK(contains(refusal(2, {}), "model.input: patches reads images, but the data of this task are token ids"));
  CHECK(contains(refusal(2, {.channels = 40}),
                 "the data of this task are frames of numbers; use model.input: frames or values"));
  PatchInput layer({.size = 2}, {.dim = 4, .signal = kImages});
  CHECK(contains(thrown<Error>([&] {
                   layer.forward({.ids = {}, .at = {}, .signal = noise({1, 2, 6, 6}, 1)});
                 }),
                 "images [1, 2, 6, 6] do not fit a model of images of 2 channels, 4 rows and 6 columns"));
}

TEST_CASE("images: models of token ids say so, and what reads images instead", "[unit]") {
  const auto refusal = []<class M>(std::type_identity<M>) {
    typename M::Config config;
    config.dim = 8;
    config.layers = 1;
    if constexpr (!std::is_same_v<M, Lstm>) config.attention.heads = 2;
    return thrown<ConfigError>([&] { M(config, {.outputs = 2, .pools = true, .signal = kImages, .max_length = 24}); });
  };
  const std::string tokens =
      "model.input: tokens reads token ids, but the data of this task are images; use model.input: patches or "
      "feature_map";
  CHECK(refusal(std::type_identity<Lstm>()) == tokens);
  CHECK(refusal(std::type_identity<Encoder>()) == tokens);
  CHECK(refusal(std::type_identity<EncoderDecoder>()) ==
        "model.kind: encoder_decoder reads and writes token ids, but the data of this task are images; use encoder, "
        "decoder, lstm, gru or cnn, with model.input: patches or feature_map");
}

TEST_CASE("images: how they are told in words", "[unit]") {
  CHECK(signal_text({}) == "token ids");
  CHECK(signal_text({.channels = 1}) == "frames of 1 number");
  CHECK(signal_text({.channels = 3, .height = 8, .width = 1}) == "images of 3 channels, 8 rows and 1 column");
}

TEST_CASE("vision transformer: without an encoding the order of the patches is lost, with learned positions it is not",
          "[unit]") {
  CHECK(largest_change(*image_encoder({}, patches(2))) <= 1e-5);
  for (const Pool pool : {Pool::mean, Pool::class_token})
    CHECK(largest_change(*image_encoder({position("learned")}, patches(2), pool)) > 1e-3);
}

TEST_CASE("vision transformer: a class token has a position of its own in front of the patches", "[unit]") {
  const auto model = image_encoder({position("learned")}, patches(2), Pool::class_token);
  CHECK(model->max_length() == 7);
  CHECK(model->named_parameters()["encoder.position.weight"].size(0) == 7);
  CHECK(model->forward(images(2)).sizes() == at::IntArrayRef{2, 7, 16});
  CHECK_FALSE(model->refuses_length(kImages.height * kImages.width));
}

TEST_CASE("vision transformer: encodings of two axes read rows and columns, all others the order", "[unit]") {
  for (const std::string_view kind : {"rope_2d", "window_bias", "rope", "sinusoidal", "alibi"}) {
    INFO(kind);
    CHECK(largest_change(*image_encoder({position(kind)}, patches(2))) > 1e-6);
  }
}

TEST_CASE("vision transformer: a place that encodings do not reach is found by tokens, not by pixels", "[unit]") {
  const auto bias = choices_of("{kind: window_bias, window: [2, 3]}");
  auto config = std::make_shared<Encoder::Config>();
  static_cast<StackConfig&>(*config) = small_config();
  config->max_length = 0;
  config->position = bias;
  config->input = patches(2);
  Choice<Model> model("encoder");
  model.config = config;
  Problems problems;
  check(model, "model", kImages.height * kImages.width, problems);
  CHECK(problems.empty());
  CHECK_NOTHROW(image_encoder(bias, patches(2))->forward(images(1)));
  CHECK(contains(thrown<ConfigError>([&] { image_encoder(bias, patches(1)); }), "holds fewer tokens"));
}

TEST_CASE("vision transformer: its cost is told a pixel, and all pixels together cost what the tokens do", "[unit]") {
  const int64_t pixels = kImages.height * kImages.width, patch_count = 6, dim = 16;
  const double image = image_encoder({}, patches(2))->cost(pixels).flops_per_token * static_cast<double>(pixels);
  const Encoder::Config text{static_cast<const StackConfig&>(small_config("none"))};
  const Encoder reader(text, {.vocab_size = kSmallVocabulary, .seed = 1});
  const double layers = reader.cost(patch_count).flops_per_token - 2.0 * kSmallVocabulary * dim;
  CHECK(image == Approx(patch_count * (layers + 2.0 * 8 * dim) + 2.0 * 3 * dim));
}

TEST_CASE("vision transformer: marks of texts are refused for images", "[unit]") {
  Encoder::Config config{static_cast<const StackConfig&>(small_config())};
  config.input = patches(2);
  config.token_types = 2;
  CHECK(contains(
      thrown<ConfigError>([&] { Encoder(config, {.outputs = 3, .pools = true, .signal = kImages, .max_length = 24}); }),
      "model.token_types (2) marks which of several texts a token is of, and the data of this task are images"));
}

TEST_CASE("feature map: queries of its places are those of a 1x1 convolution over the map", "[unit]") {
  FeatureMapInput layer({.channels = 3, .layers = 2, .pools = 1}, {.dim = 4, .signal = kImages});
  initialise(layer, /*seed=*/1, InitConfig{.std = 0.5}, /*layers=*/1);
  const ModelInput in = images(2);
  const auto [x, at, mask] = layer.forward(in);
  CHECK(x.sizes() == at::IntArrayRef{2, 6, 4});
  CHECK(same_bytes(at.coords[0][5], at::tensor({1.0F, 2.0F})));
  CHECK(layer.tokens(kImages.height * kImages.width) == 6);
  const Tensor q = noise({4, 4}, 3), bias = noise({4}, 4);
  const Tensor of_map = at::conv2d(layer.map(in.signal), q.view({4, 4, 1, 1}), bias);
  CHECK(close(at::linear(x, q, bias), of_map.flatten(2).transpose(1, 2), Tolerance::fp32));
}

TEST_CASE("feature map: its cost counts the places that each layer works at", "[unit]") {
  const FeatureMapInput layer({.channels = 3, .layers = 3, .pools = 1}, {.dim = 4, .signal = kImages});
  // 24 places before the pool, 6 behind it
  CHECK(layer.flops_per_token() == 2.0 * 9 * (4 * 2 * 3 + 3 * 3 + 3 * 4));
}

TEST_CASE("feature map: more pools than layers, and sides that cannot be halved, are refused in words", "[unit]") {
  const auto refusal = [](int64_t layers, int64_t pools, const SignalFacts& signal) {
    return thrown<ConfigError>(
        [&] { FeatureMapInput({.layers = layers, .pools = pools}, {.dim = 4, .vocab_size = 7, .signal = signal}); });
  };
  CHECK(contains(refusal(1, 2, kImages), "model.input.pools (2) must not exceed model.input.layers (1)"));
  CHECK(contains(refusal(2, 2, kImages), "4 rows and 6 columns cannot be divided by 4"));
  CHECK(contains(refusal(2, 1, {}), "model.input: feature_map reads images"));
}

}  // namespace ordo::test
