// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/models/encoder_decoder.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "ordo/config/config.h"
#include "ordo/models/decoder.h"
#include "ordo/nn/layers.h"
#include "support/models.h"
#include "support/tolerance.h"

namespace ordo::test {
namespace {

constexpr int64_t kSourceLength = 7, kTargetLength = 5;

EncoderDecoder::Config pair_config(std::string_view kind = "sinusoidal") {
  const Decoder::Config small = small_config(kind);
  EncoderDecoder::Config config;
  static_cast<StackConfig&>(config) = small;
  config.layers = 2;
  return config;
}

std::shared_ptr<EncoderDecoder> pair_model(const EncoderDecoder::Config& config, uint64_t seed = 1) {
  return std::make_shared<EncoderDecoder>(config, ModelFacts{.vocab_size = kSmallVocabulary, .seed = seed});
}

EncoderInput source_of(const Tensor& ids, const Tensor& keys = {}) {
  return {.ids = ids, .at = consecutive(0, ids.size(1), at::kCPU), .keys = keys};
}

ModelInput pair_input(const Tensor& target, const EncoderInput& source, const Draw& draw = {}) {
  ModelInput in = input_of(target, draw);
  in.source = source;
  return in;
}

Tensor evaluated(EncoderDecoder& model, const ModelInput& in, Cache* cache = nullptr) {
  const c10::NoGradGuard no_gradients;
  model.eval();
  return model.forward(in, cache);
}

TEST_CASE("an encoder-decoder writes with a cache what it writes at once, for every norm placement", "[unit]") {
  for (const NormPlacement placement :
       {NormPlacement::pre, NormPlacement::post, NormPlacement::sandwich, NormPlacement::parallel}) {
    for (const char* kind : {"sinusoidal", "rope", "t5_bias"}) {
      EncoderDecoder::Config config = pair_config(kind);
      config.norm.placement = placement;
      const auto model = pair_model(config);
      const Tensor target = some_ids(3, kTargetLength), source = some_ids(3, kSourceLength);
      const Tensor whole = evaluated(*model, pair_input(target, source_of(source)));
      const auto cache = model->make_cache();
      std::vector<Tensor> pieces{evaluated(*model, pair_input(target.slice(1, 0, 2), source_of(source)), cache.get())};
      for (int64_t i = 2; i < kTargetLength; ++i)
        pieces.push_back(
            evaluated(*model, {.ids = target.slice(1, i, i + 1), .at = consecutive(i, 1, at::kCPU)}, cache.get()));
      CHECK(close(at::cat(pieces, 1), whole, Tolerance::fp32));
      CHECK(cache->size() == kTargetLength);
    }
  }
}

TEST_CASE("an encoder-decoder: rows that leave a cache leave the memory too", "[unit]") {
  const auto model = pair_model(pair_config());
  const Tensor target = some_ids(3, kTargetLength), source = some_ids(3, kSourceLength);
  const Tensor whole = evaluated(*model, pair_input(target, source_of(source)));
  const auto cache = model->make_cache();
  evaluated(*model, pair_input(target.slice(1, 0, 4), source_of(source)), cache.get());
  const Tensor kept = at::tensor({2, 0}, at::kLong);
  cache->keep_rows(kept);
  const Tensor last = evaluated(
      *model, {.ids = target.index_select(0, kept).slice(1, 4, 5), .at = consecutive(4, 1, at::kCPU)}, cache.get());
  CHECK(close(last, whole.index_select(0, kept).slice(1, 4, 5), Tolerance::fp32));
}

TEST_CASE("an encoder-decoder does not see the padding of a source", "[unit]") {
  const auto model = pair_model(pair_config("rope"));
  const Tensor target = some_ids(2, kTargetLength), source = some_ids(2, kSourceLength);
  const Tensor plain = evaluated(*model, pair_input(target, source_of(source)));
  const Tensor filled = at::cat({source, some_ids(2, 3)}, 1);
  Tensor keys = at::ones_like(filled, at::kBool);
  keys.slice(1, kSourceLength).fill_(false);
  CHECK(close(evaluated(*model, pair_input(target, source_of(filled, keys))), plain, Tolerance::fp32));
  CHECK_FALSE(close(evaluated(*model, pair_input(target, source_of(filled))), plain, Tolerance::fp32));
}

TEST_CASE("an encoder-decoder: a later word of the target changes nothing before it, any word of the source does",
          "[unit]") {
  const auto model = pair_model(pair_config());
  const Tensor target = some_ids(1, kTargetLength), source = some_ids(1, kSourceLength);
  const Tensor before = evaluated(*model, pair_input(target, source_of(source)));
  const auto other = [](const Tensor& ids, int64_t place) {
    Tensor changed = ids.clone();
    changed.select(1, place).add_(1).remainder_(kSmallVocabulary);
    return changed;
  };
  const Tensor later = evaluated(*model, pair_input(other(target, 3), source_of(source)));
  CHECK(at::equal(later.slice(1, 0, 3), before.slice(1, 0, 3)));
  CHECK_FALSE(close(later.slice(1, 3), before.slice(1, 3), Tolerance::fp32));
  for (int64_t place = 0; place < kSourceLength; ++place)
    CHECK_FALSE(close(evaluated(*model, pair_input(target, source_of(other(source, place)))).select(1, 0),
                      before.select(1, 0), Tolerance::fp32));
}

TEST_CASE("an encoder-decoder without an encoding is told no order of its source", "[unit]") {
  EncoderDecoder::Config config = pair_config();
  config.encoder.position = {position("none")};
  const Tensor target = some_ids(1, kTargetLength), source = some_ids(1, kSourceLength);
  const Tensor turned = source.flip({1});
  const auto blind = pair_model(config), seeing = pair_model(pair_config());
  CHECK(close(evaluated(*blind, pair_input(target, source_of(turned))),
              evaluated(*blind, pair_input(target, source_of(source))), Tolerance::fp32));
  CHECK_FALSE(close(evaluated(*seeing, pair_input(target, source_of(turned))),
                    evaluated(*seeing, pair_input(target, source_of(source))), Tolerance::fp32));
}

TEST_CASE("an encoder-decoder: recomputed blocks have the gradients of plain ones, through the memory too", "[unit]") {
  EncoderDecoder::Config config = pair_config("t5_bias");
  config.dropout = 0.1;
  const Tensor target = some_ids(2, kTargetLength), source = some_ids(2, kSourceLength);
  const auto gradients = [&](const std::vector<bool>& recompute) {
    const auto model = pair_model(config);
    model->recompute(recompute);
    model->forward(pair_input(target, source_of(source), {.seed = 3, .step = 1})).pow(2).sum().backward();
    std::vector<Tensor> found;
    for (const auto& parameter : model->parameters()) found.push_back(parameter.grad());
    return found;
  };
  const auto plain = gradients({}), replayed = gradients({true, true, true, true});
  REQUIRE(plain.size() == replayed.size());
  for (size_t i = 0; i < plain.size(); ++i) {
    REQUIRE(plain[i].defined());
    CHECK(close(replayed[i], plain[i], Tolerance::fp32));
  }
}

TEST_CASE("an encoder-decoder: each side has its own settings, and the other's where it has none", "[unit]") {
  EncoderDecoder::Config config = pair_config();
  config.encoder.layers = 3;
  config.decoder.position = {position("rope")};
  config.decoder.feed_forward = FeedForwardConfig{.hidden = 24};
  CHECK(config.encoder_stack().layers == 3);
  CHECK(config.decoder_stack().layers == 2);
  CHECK(config.encoder_stack().position.front().kind == "sinusoidal");
  CHECK(config.decoder_stack().position.front().kind == "rope");
  CHECK(config.decoder_stack().feed_forward.hidden == 24);
  CHECK(pair_model(config)->layers() == 5);
}

TEST_CASE("an encoder-decoder: an encoding that acts before the layers is no encoding of cross-attention", "[unit]") {
  EncoderDecoder::Config config = pair_config();
  config.decoder.cross_position = {position("sinusoidal")};
  CHECK_THROWS_WITH(pair_model(config), Catch::Contains("sinusoidal acts on the input") &&
                                            Catch::Contains("cross-attention cannot use it"));
  config.decoder.cross_position = {position("alibi")};
  const Tensor target = some_ids(1, kTargetLength), source = some_ids(1, kSourceLength);
  CHECK_FALSE(close(evaluated(*pair_model(config), pair_input(target, source_of(source))),
                    evaluated(*pair_model(pair_config()), pair_input(target, source_of(source))), Tolerance::fp32));
}

TEST_CASE("an encoder-decoder asks the encoding of its cross-attention about lengths", "[unit]") {
  EncoderDecoder::Config config = pair_config();
  config.decoder.cross_position = {position("window_bias")};  // of 4 x 4 places
  CHECK_FALSE(pair_model(pair_config())->refuses_length(20));
  const auto model = pair_model(config);
  CHECK(model->refuses_length(20));
  CHECK_THROWS_WITH(evaluated(*model, pair_input(some_ids(1, 3), source_of(some_ids(1, 20)))),
                    Catch::Contains("window"));
}

TEST_CASE("an encoder-decoder says that its source is missing, or has other rows", "[unit]") {
  const auto model = pair_model(pair_config());
  CHECK_THROWS_WITH(evaluated(*model, input_of(some_ids(2, 3))), Catch::Contains("reads a source"));
  CHECK_THROWS_WITH(evaluated(*model, pair_input(some_ids(2, 3), source_of(some_ids(1, 4)))),
                    Catch::Contains("1 rows of a source do not fit 2 rows"));
}

TEST_CASE("an encoder-decoder of T5 small's sizes has its number of parameters", "[unit]") {
  EncoderDecoder::Config config;
  config.dim = 8;
  config.layers = 6;
  config.max_length = 16;
  config.attention = {.heads = 8, .head_dim = 1};
  config.feed_forward = {.hidden = 32, .activation = Activation::relu};
  config.norm.kind = NormKind::rms;
  config.bias = false;
  config.position = {position("t5_bias")};
  const auto model = pair_model(config);
  int64_t found = 0;
  for (const auto& parameter : model->parameters()) found += parameter.numel();
  const int64_t attention = 4 * 8 * 8, feed_forward = 2 * 8 * 32, norm = 8, bias = 32 * 8;
  const int64_t encoder = 6 * (attention + feed_forward + 2 * norm) + norm + bias;
  const int64_t decoder = 6 * (2 * attention + feed_forward + 3 * norm) + norm + bias;
  CHECK(found == encoder + decoder + kSmallVocabulary * 8);
}

}  // namespace
}  // namespace ordo::test
