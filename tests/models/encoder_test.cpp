// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>

#include "ordo/models/encoder.h"
#include "support/models.h"
#include "support/positions.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

std::shared_ptr<Encoder> small_encoder(std::string_view position) {
  Encoder::Config config;
  static_cast<StackConfig&>(config) = small_config(position);
  auto model = std::make_shared<Encoder>(config, ModelFacts{.vocab_size = kSmallVocabulary, .seed = 1});
  model->eval();
  return model;
}

Tensor permuted(const Tensor& x) { return x.index_select(1, at::tensor({4, 2, 0, 5, 1, 3})); }

}  // namespace

TEST_CASE("encoder: without an encoding it is permutation-equivariant, with one it is not", "[unit]") {
  const Tensor ids = some_ids(2, 6);
  for (const std::string_view kind : {"none", "rope", "sinusoidal", "learned", "alibi"}) {
    INFO(kind);
    const auto model = small_encoder(kind);
    const Tensor there = model->forward(input_of(permuted(ids))), here = permuted(model->forward(input_of(ids)));
    if (kind == "none")
      CHECK(close(there, here, Tolerance::fp32));
    else
      CHECK_FALSE(close(there, here, Tolerance::fp32));
  }
}

TEST_CASE("encoder: a token sees those after it", "[unit]") {
  const auto model = small_encoder("rope");
  const Tensor ids = some_ids(1, 6);
  Tensor changed = ids.clone();
  changed[0][5] = (ids[0][5] + 1).remainder(kSmallVocabulary);
  CHECK_FALSE(model->causal());
  CHECK_FALSE(close(model->forward(input_of(changed))[0][0], model->forward(input_of(ids))[0][0], Tolerance::fp32));
}

TEST_CASE("encoder: its parameters are named after it, and it has no cache", "[unit]") {
  const auto model = small_encoder("learned");
  CHECK(model->named_parameters().contains("encoder.blocks.0.attention.q.weight"));
  CHECK(model->named_parameters().contains("encoder.position.weight"));
  CHECK_THROWS_WITH(model->make_cache(), Catch::Contains("model.kind: decoder"));
}

TEST_CASE("encoder: a query costs what it sees: all keys, not half of them", "[unit]") {
  const auto decoder = small_decoder(small_config("rope"));
  const auto encoder = small_encoder("rope");
  // three layers, four heads of four channels: scores and values of 12 keys against (12 + 1) / 2
  CHECK(encoder->cost(12).flops_per_token - decoder->cost(12).flops_per_token == Approx(3 * 2 * 2 * 16 * (12.0 - 6.5)));
}

}  // namespace ordo::test
