// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "ordo/nn/layers.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

struct Pair : torch::nn::Module {
  explicit Pair(bool with_extra = false) {
    first = register_module("first", std::make_shared<Linear>(64, 128, Linear::Options{}));
    if (with_extra) register_module("extra", std::make_shared<Linear>(64, 64, Linear::Options{}));
    second = register_module("second", std::make_shared<Linear>(128, 64, Linear::Options{.residual = true}));
    drop = register_module("drop", std::make_shared<Dropout>(0.5));
    again = register_module("again", std::make_shared<Dropout>(0.5));
  }
  std::shared_ptr<Linear> first, second;
  std::shared_ptr<Dropout> drop, again;
};

double deviation(const Tensor& t) { return t.detach().to(at::kDouble).std().item<double>(); }

}  // namespace

TEST_CASE("initialise: equal names under an equal seed get equal values, whatever else a model holds", "[unit]") {
  Pair small, large(/*with_extra=*/true);
  initialise(small, 5, {}, 2);
  initialise(large, 5, {}, 2);
  CHECK(same_bytes(small.first->weight, large.first->weight));
  CHECK(same_bytes(small.second->weight, large.second->weight));
}

TEST_CASE("initialise: another seed or another name gives other values", "[unit]") {
  Pair one, two;
  initialise(one, 5, {}, 2);
  initialise(two, 6, {}, 2);
  CHECK_FALSE(same_bytes(one.first->weight, two.first->weight));
  CHECK_FALSE(same_bytes(one.first->weight.flatten(), one.second->weight.flatten()));
}

TEST_CASE("initialise: residual projections start smaller by sqrt(2 x layers), unless told otherwise", "[unit]") {
  Pair scaled, plain;
  initialise(scaled, 1, {.std = 0.02}, 8);
  initialise(plain, 1, {.std = 0.02, .scale_residual = false}, 8);
  CHECK(deviation(scaled.first->weight) == Approx(0.02).epsilon(0.05));
  CHECK(deviation(scaled.second->weight) == Approx(0.005).epsilon(0.05));
  CHECK(deviation(plain.second->weight) == Approx(0.02).epsilon(0.05));
}

TEST_CASE("initialise: lecun_normal gives a matrix 1 / sqrt(inputs) and an embedding 1", "[unit]") {
  Pair pair;
  initialise(pair, 1, {.kind = InitKind::lecun_normal}, 8);
  CHECK(deviation(pair.first->weight) == Approx(1.0 / std::sqrt(64.0)).epsilon(0.05));
  CHECK(deviation(pair.second->weight) == Approx(1.0 / std::sqrt(128.0) / 4.0).epsilon(0.05));
  Embedding embedding(100, 64);
  initialise(embedding, 1, {.kind = InitKind::lecun_normal}, 8);
  CHECK(deviation(embedding.weight) == Approx(1.0).epsilon(0.05));
}

TEST_CASE("initialise: embedding_std is that of embeddings alone, whatever the kind", "[unit]") {
  for (const InitKind kind : {InitKind::normal, InitKind::lecun_normal}) {
    const InitConfig config{.kind = kind, .embedding_std = 0.3};
    Embedding embedding(100, 64);
    initialise(embedding, 1, config, 1);
    CHECK(deviation(embedding.weight) == Approx(0.3).epsilon(0.05));
    Pair with, without;
    initialise(with, 1, config, 1);
    initialise(without, 1, {.kind = kind}, 1);
    CHECK(same_bytes(with.first->weight, without.first->weight));
  }
}

TEST_CASE("initialise: biases start at zero and norms at one", "[unit]") {
  Pair pair;
  pair.first->bias.detach().fill_(3.0);
  initialise(pair, 1, {}, 1);
  CHECK(pair.first->bias.abs().max().item<double>() == 0.0);
  Norm norm(4, NormKind::layer, /*bias=*/true);
  norm.weight.detach().fill_(3.0);
  initialise(norm, 1, {}, 1);
  CHECK((norm.weight == 1.0).all().item<bool>());
}

TEST_CASE("initialise: every dropout gets a site of its own, the same in every model", "[unit]") {
  Pair one, two(/*with_extra=*/true);
  initialise(one, 1, {}, 1);
  initialise(two, 2, {}, 1);
  const Draw draw{.seed = 3};
  CHECK(one.drop->key(draw) != one.again->key(draw));
  CHECK(one.drop->key(draw) == two.drop->key(draw));
}

TEST_CASE("initialise: a root of its own may own parameters", "[unit]") {
  Linear alone(64, 64, {}), child_like(64, 64, {});
  initialise(alone, 5, {}, 1);
  const at::NoGradGuard no_grad;
  child_like.reset(Initialiser(5, {}, 1), "");
  CHECK(same_bytes(alone.weight, child_like.weight));
}

}  // namespace ordo::test
