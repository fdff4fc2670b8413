// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include "ordo/core/errors.h"
#include "ordo/models/decoder.h"
#include "ordo/models/encoder.h"
#include "ordo/models/pool.h"
#include "support/models.h"
#include "support/positions.h"
#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {
namespace {

// The first row begins with padding, the second ends in it.
Tensor unequal_keys() { return at::tensor({0, 1, 1, 1, 0, 0}, at::kLong).view({2, 3}).to(at::kBool); }

Encoder::Config pooling_config(Pool pool) {
  Encoder::Config config;
  static_cast<StackConfig&>(config) = small_config("learned");
  config.pool = pool;
  return config;
}

constexpr ModelFacts kThreeClasses{.vocab_size = kSmallVocabulary, .outputs = 3, .pools = true, .max_length = 6};

}  // namespace

TEST_CASE("pooled: one real token's vector, the mean or the largest over real tokens, or all side by side", "[unit]") {
  const Tensor hidden = noise({2, 3, 4}, 5), keys = unequal_keys();
  CHECK(same_bytes(pooled(hidden, keys, Pool::first), at::stack({hidden[0][1], hidden[1][0]})));
  CHECK(same_bytes(pooled(hidden, keys, Pool::class_token), at::stack({hidden[0][1], hidden[1][0]})));
  CHECK(same_bytes(pooled(hidden, keys, Pool::last), at::stack({hidden[0][2], hidden[1][0]})));
  CHECK(same_bytes(pooled(hidden, keys, Pool::max), at::stack({hidden[0].slice(0, 1).amax(0), hidden[1][0]})));
  CHECK(close(pooled(hidden, keys, Pool::mean), at::stack({(hidden[0][1] + hidden[0][2]) / 2, hidden[1][0]}),
              Tolerance::fp32));
  CHECK(same_bytes(pooled(hidden, {}, Pool::first), hidden.select(1, 0)));
  CHECK(same_bytes(pooled(hidden, {}, Pool::last), hidden.select(1, 2)));
  CHECK(same_bytes(pooled(hidden, {}, Pool::max), hidden.amax(1)));
  CHECK(close(pooled(hidden, {}, Pool::mean), hidden.mean(1), Tolerance::fp32));
  CHECK(same_bytes(pooled(hidden, {}, Pool::flatten), hidden.reshape({2, 12})));
  CHECK(contains(thrown<ConfigError>([&] { pooled(hidden, keys, Pool::flatten); }), "side by side"));
}

TEST_CASE("pooled: a row of padding alone gives zeros, whatever stands in it", "[unit]") {
  Tensor hidden = noise({2, 3, 4}, 5), keys = unequal_keys();
  hidden[0].fill_(std::numeric_limits<double>::quiet_NaN());
  keys[0].fill_(false);
  for (const Pool pool : {Pool::first, Pool::last, Pool::max, Pool::mean}) {
    const Tensor out = pooled(hidden, keys, pool);
    CHECK(out[0].eq(0.0).all().item<bool>());
    CHECK(close(out[1], hidden[1][0], Tolerance::fp32));
  }
}

TEST_CASE("a model's vector of a row does not see padding behind it, however it pools", "[unit]") {
  for (const Pool pool : {Pool::mean, Pool::max, Pool::first, Pool::last, Pool::class_token}) {
    CAPTURE(static_cast<int>(pool));
    Encoder model(pooling_config(pool), kThreeClasses);
    model.eval();
    const Tensor ids = some_ids(1, 4);
    const Tensor longer = at::cat({ids, at::tensor({3, 5}, at::kLong).view({1, 2})}, 1);
    const Tensor keys = at::tensor({1, 1, 1, 1, 0, 0}, at::kLong).view({1, 6}).to(at::kBool);
    const Tensor alone = model.pooled(input_of(ids));
    ModelInput padded = input_of(longer);
    padded.mask.keys = keys;
    REQUIRE(alone.sizes() == at::IntArrayRef({1, 16}));
    CHECK(close(model.pooled(padded), alone, Tolerance::fp32));
    CHECK(model.head().logits(alone).sizes() == at::IntArrayRef({1, 3}));
  }
}

TEST_CASE("a class token is one more position, and its parameters are drawn by their names", "[unit]") {
  Encoder plain(pooling_config(Pool::mean), kThreeClasses), marked(pooling_config(Pool::class_token), kThreeClasses);
  CHECK(marked.named_parameters()["class_token"].abs().max().item<double>() > 0.0);
  CHECK(marked.named_parameters()["encoder.position.weight"].size(0) ==
        plain.named_parameters()["encoder.position.weight"].size(0));  // max_length is given, and holds for both
  CHECK(same_bytes(plain.named_parameters()["embedding.weight"], marked.named_parameters()["embedding.weight"]));
}

TEST_CASE("flattened rows give a head as wide as all their tokens", "[unit]") {
  Encoder model(pooling_config(Pool::flatten), kThreeClasses);
  CHECK(model.head().weight().sizes() == at::IntArrayRef({3, 6 * 16}));
  CHECK(model.pooled(input_of(some_ids(2, 6))).sizes() == at::IntArrayRef({2, 96}));
  CHECK(contains(thrown<ConfigError>([&] { model.pooled(input_of(some_ids(2, 5))); }), "model.pool: flatten"));
}

TEST_CASE("BERT's pooler stands behind the pooled vector, and token types are added to tokens", "[unit]") {
  Encoder::Config config = pooling_config(Pool::class_token);
  config.pooler = true;
  config.token_types = 2;
  Encoder model(config, kThreeClasses);
  model.eval();
  CHECK(model.named_parameters()["pooler.weight"].sizes() == at::IntArrayRef({16, 16}));
  CHECK(model.named_parameters()["token_types.weight"].sizes() == at::IntArrayRef({2, 16}));
  ModelInput in = input_of(some_ids(1, 4));
  const Tensor first = model.pooled(in);
  CHECK(first.abs().max().item<double>() < 1.0);
  in.types = at::tensor({0, 0, 0, 0}, at::kLong).view({1, 4});
  CHECK(same_bytes(model.pooled(in), first));
  in.types = at::tensor({0, 0, 1, 1}, at::kLong).view({1, 4});
  CHECK_FALSE(same_bytes(model.pooled(in), first));
  in.types[0][3] = 2;
  CHECK(contains(thrown<ConfigError>([&] { model.pooled(in); }), "model.token_types (2)"));
}

TEST_CASE("pooling is refused where a task asks of each token, and a class token where nothing stands before it",
          "[unit]") {
  const ModelFacts tokens{.vocab_size = kSmallVocabulary, .max_length = 6};
  CHECK(contains(thrown<ConfigError>([&] { Encoder(pooling_config(Pool::mean), tokens); }), "model.pool"));
  Decoder::Config causal = small_config();
  causal.pool = Pool::class_token;
  CHECK(contains(thrown<ConfigError>([&] { Decoder(causal, kThreeClasses); }), "class_token"));
}

}  // namespace ordo::test
