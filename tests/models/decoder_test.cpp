// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <set>

#include "ordo/models/probe.h"
#include "ordo/nn/precision.h"
#include "support/models.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

std::set<std::string> names_of(Model& model) {
  std::set<std::string> names;
  for (const auto& p : model.named_parameters()) names.insert(p.key());
  return names;
}

double deviation(const Tensor& t) { return t.detach().to(at::kDouble).std().item<double>(); }

Tensor loss_of(Model& model, const Tensor& ids, const Draw& draw = {}) {
  const int64_t L = ids.size(1);
  return model.head().loss(model.forward(input_of(ids.slice(1, 0, L - 1), draw)), ids.slice(1, 1), {});
}

}  // namespace

TEST_CASE("decoder: parameters are named by their place, the interface of checkpoints", "[unit]") {
  Decoder::Config config = small_config("learned");
  config.layers = 1;
  const std::string block = "decoder.blocks.0.";
  std::set<std::string> want{"embedding.weight", "decoder.position.weight", "decoder.norm.weight", "decoder.norm.bias"};
  for (const char* layer : {"norm1", "attention.q", "attention.k", "attention.v", "attention.o", "norm2",
                            "feed_forward.up", "feed_forward.down"})
    for (const char* leaf : {".weight", ".bias"}) want.insert(block + layer + leaf);
  CHECK(names_of(*small_decoder(config)) == want);
}

TEST_CASE("decoder: a tied head shares the embedding's weight, an untied one has its own", "[unit]") {
  Decoder::Config config = small_config();
  const auto tied = small_decoder(config);
  CHECK(tied->head().weight().is_same(tied->named_parameters()["embedding.weight"]));
  config.tie_embeddings = false;
  const auto untied = small_decoder(config);
  CHECK(names_of(*untied).contains("head.weight"));
  CHECK_FALSE(same_bytes(untied->head().weight(), untied->named_parameters()["embedding.weight"]));
}

TEST_CASE("decoder: a tied weight gets the gradients of both its uses", "[unit]") {
  Decoder::Config config = small_config();
  const auto tied = small_decoder(config);
  config.tie_embeddings = false;
  const auto untied = small_decoder(config);
  {
    const at::NoGradGuard no_grad;
    untied->named_parameters()["head.weight"].copy_(tied->head().weight());
  }
  const Tensor ids = some_ids(2, 8);
  loss_of(*tied, ids).backward();
  loss_of(*untied, ids).backward();
  const Tensor sum =
      untied->named_parameters()["head.weight"].grad() + untied->named_parameters()["embedding.weight"].grad();
  CHECK(close_gradient(tied->head().weight().grad(), sum, 1e-5));
}

TEST_CASE("decoder: models that differ in their encoding share all other weights to the bit", "[unit]") {
  const auto one = small_decoder(small_config("learned")), two = small_decoder(small_config("alibi"));
  const auto mine = one->named_parameters();
  int64_t shared = 0;
  for (const auto& p : two->named_parameters()) {
    INFO(p.key());
    CHECK(same_bytes(p.value(), mine[p.key()]));
    ++shared;
  }
  CHECK(shared + 1 == static_cast<int64_t>(mine.size()));
}

TEST_CASE("decoder: the two residual projections of a block start at std / sqrt(2 x layers)", "[unit]") {
  Decoder::Config config = small_config();
  config.dim = 64;
  config.layers = 8;
  config.init.std = 0.02;
  const auto p = small_decoder(config)->named_parameters();
  for (const char* name : {"attention.o", "feed_forward.down"})
    CHECK(deviation(p["decoder.blocks.3." + std::string(name) + ".weight"]) == Approx(0.005).epsilon(0.06));
  for (const char* name : {"attention.q", "attention.v", "feed_forward.up"})
    CHECK(deviation(p["decoder.blocks.3." + std::string(name) + ".weight"]) == Approx(0.02).epsilon(0.06));
}

TEST_CASE("decoder: a later token changes nothing earlier", "[unit]") {
  const auto model = small_decoder(small_config("rope"));
  const Tensor ids = some_ids(1, 10), other = ids.clone();
  other[0][7] = (ids[0][7] + 1).remainder(kSmallVocabulary);
  const Tensor a = model->forward(input_of(ids)), b = model->forward(input_of(other));
  CHECK(close(a.slice(1, 0, 7), b.slice(1, 0, 7), Tolerance::fp32));
  CHECK_FALSE(close(a.slice(1, 7), b.slice(1, 7), Tolerance::bf16));
}

TEST_CASE("decoder: scale_embedding multiplies embeddings by sqrt(dim)", "[unit]") {
  Decoder::Config config = small_config("sinusoidal");
  config.tie_embeddings = false;
  const auto plain = small_decoder(config);
  config.scale_embedding = true;
  const auto scaled = small_decoder(config);
  plain->named_parameters()["embedding.weight"].detach().mul_(4.0);  // dim is 16
  CHECK(close(scaled->forward(input_of(some_ids(1, 5))), plain->forward(input_of(some_ids(1, 5))), Tolerance::fp32));
}

TEST_CASE("decoder: embedding_norm makes the blocks blind to the scale of embeddings", "[unit]") {
  Decoder::Config config = small_config("none");
  config.embedding_norm = true;
  const auto model = small_decoder(config);
  const Tensor ids = some_ids(1, 5), before = model->forward(input_of(ids));
  model->named_parameters()["embedding.weight"].detach().mul_(4.0);
  CHECK(close(model->forward(input_of(ids)), before, Tolerance{1e-3, 1e-3}));  // but for eps
}

TEST_CASE("decoder: cached decoding in chunks equals the whole sequence at once", "[unit]") {
  const at::NoGradGuard no_grad;
  for (const char* kind : {"rope", "learned", "alibi", "sinusoidal", "none"}) {
    const auto model = small_decoder(small_config(kind));
    model->eval();
    const Tensor ids = some_ids(2, 11);
    const auto cache = model->make_cache();
    std::vector<Tensor> parts;
    for (const auto& [from, to] : {std::pair{0, 5}, {5, 6}, {6, 7}, {7, 11}})
      parts.push_back(
          model->forward({.ids = ids.slice(1, from, to), .at = consecutive(from, to - from, at::kCPU)}, cache.get()));
    INFO(kind);
    CHECK(close(at::cat(parts, 1), model->forward(input_of(ids)), Tolerance::fp32_sum));
  }
}

TEST_CASE("decoder: dropout and stochastic depth act in training alone, and by the draw", "[unit]") {
  Decoder::Config config = small_config();
  config.dropout = 0.2;
  config.drop_path = 0.3;
  config.attention.dropout = 0.1;
  const auto model = small_decoder(config);
  const Tensor ids = some_ids(4, 9);
  const auto run = [&](int64_t step) { return loss_of(*model, ids, {.seed = 1, .step = step}).detach(); };
  CHECK(same_bytes(run(1), run(1)));
  CHECK_FALSE(same_bytes(run(1), run(2)));
  model->eval();
  CHECK(same_bytes(run(1), run(2)));
}

TEST_CASE("decoder: gradients agree with fp64 differences along random directions", "[unit]") {
  for (const auto placement :
       {NormPlacement::pre, NormPlacement::post, NormPlacement::sandwich, NormPlacement::parallel}) {
    Decoder::Config config = small_config("learned");
    config.position.push_back(position("rope"));
    config.norm.placement = placement;
    config.norm.kind = placement == NormPlacement::sandwich ? NormKind::rms : NormKind::layer;
    config.feed_forward = {.activation = Activation::silu, .gated = placement != NormPlacement::pre};
    config.attention.qk_norm = true;
    config.softcap = 3.0;
    config.dropout = 0.1;
    const auto model = small_decoder(config);
    model->to(at::kDouble);
    const Tensor ids = some_ids(2, 7);
    const Draw draw{.seed = 2};
    loss_of(*model, ids, draw).backward();
    uint64_t key = 50;
    for (const auto& p : model->named_parameters()) {
      const at::NoGradGuard no_grad;
      const Tensor direction = at::zeros_like(p.value());
      draw_normal(direction, 1.0, ++key);
      constexpr double kStep = 2e-6;
      const auto shifted = [&](double by) {
        p.value().add_(direction, by);
        const double loss = loss_of(*model, ids, draw).item<double>();
        p.value().sub_(direction, by);
        return loss;
      };
      const double numeric = (shifted(kStep) - shifted(-kStep)) / (2.0 * kStep),
                   exact = (p.value().grad() * direction).sum().item<double>();
      INFO("placement " << static_cast<int>(placement) << ", " << p.key());
      CHECK(exact == Approx(numeric).epsilon(1e-6).margin(1e-7));
    }
  }
}

TEST_CASE("decoder: bf16 autocast stays close to fp32, in loss and gradients", "[unit]") {
  for (const char* kind : {"rope", "learned", "alibi", "sinusoidal"}) {
    Decoder::Config config = small_config(kind);
    config.init.std = 0.05;
    const auto model = small_decoder(config);
    const Tensor ids = some_ids(4, 12);
    loss_of(*model, ids).backward();
    const Tensor weight = model->named_parameters()["decoder.blocks.0.feed_forward.up.weight"],
                 plain = weight.grad().clone();
    const double want = loss_of(*model, ids).item<double>();
    model->zero_grad();
    Tensor loss;
    {
      const AutocastScope scope(at::kCPU, autocast_of(Precision::bf16));
      loss = loss_of(*model, ids);
    }
    loss.backward();
    INFO(kind);
    CHECK(loss.item<double>() == Approx(want).epsilon(3e-3));
    CHECK(close_gradient(weight.grad(), plain, 5e-2));
    CHECK(weight.grad().scalar_type() == at::kFloat);
  }
}

TEST_CASE("decoder: ids outside the vocabulary are refused with their place", "[unit]") {
  const auto model = small_decoder(small_config());
  const Tensor ids = some_ids(2, 5);
  ids[1][3] = kSmallVocabulary;
  CHECK_THROWS_AS(model->forward(input_of(ids)), DataError);
  CHECK_THROWS_WITH(model->forward(input_of(ids)),
                    Catch::Contains("token id 11 (row 1, column 3)") && Catch::Contains("0 to 10"));
}

TEST_CASE("decoder: a sequence past a learned table is refused, also token by token", "[unit]") {
  const at::NoGradGuard no_grad;
  const auto model = small_decoder(small_config("learned"));
  CHECK_THROWS_AS(model->forward(input_of(some_ids(1, kSmallLength + 1))), ConfigError);
  const auto cache = model->make_cache();
  model->forward(input_of(some_ids(1, kSmallLength)), cache.get());
  CHECK_THROWS_WITH(model->forward({.ids = some_ids(1, 1), .at = consecutive(kSmallLength, 1, at::kCPU)}, cache.get()),
                    Catch::Contains("13 tokens"));
  CHECK_NOTHROW(small_decoder(small_config("rope"))->forward(input_of(some_ids(1, 3 * kSmallLength))));
}

TEST_CASE("decoder: max_length left open is the length of training", "[unit]") {
  Decoder::Config config = small_config("learned");
  config.max_length = 0;
  const Decoder model(config, {.vocab_size = 5, .max_length = 21});
  CHECK(model.max_length() == 21);
  CHECK(model.named_parameters()["decoder.position.weight"].size(0) == 21);
}

TEST_CASE("decoder: a probe sees every block's output and the weights it wants", "[unit]") {
  struct Watch : Probe {
    std::vector<int64_t> blocks;
    Tensor map;
    bool wants_weights(int64_t layer) const override { return layer == 1; }
    void weights(int64_t layer, const Tensor& w) override {
      CHECK(layer == 1);
      map = w;
    }
    void block(int64_t layer, const Tensor&) override { blocks.push_back(layer); }
  };
  Decoder::Config config = small_config();
  config.attention.kernel = Choice<AttentionKernel>("eager");
  const auto model = small_decoder(config);
  Watch watch;
  ModelInput in = input_of(some_ids(2, 6));
  in.probe = &watch;
  model->forward(in);
  CHECK(watch.blocks == std::vector<int64_t>{0, 1, 2});
  CHECK(watch.map.sizes() == at::IntArrayRef({2, 4, 6, 6}));
}

TEST_CASE("decoder: its cost counts the matrix products of a token", "[unit]") {
  Decoder::Config config = small_config();  // dim 16, heads 4 of 4 channels, two groups, hidden 64
  config.layers = 1;
  const double projections = 2.0 * (16 * 16 + 2 * 16 * 8 + 16 * 16), feed_forward = 2.0 * 2 * 16 * 64,
               head = 2.0 * 16 * kSmallVocabulary;
  const double attention = 2.0 * 2 * 16 * 4.5;  // eight rows see 1 … 8 keys
  CHECK(small_decoder(config)->cost(8).flops_per_token == Approx(projections + feed_forward + head + attention));
  config.attention.window = {2};
  const double windowed = 2.0 * 2 * 16 * (15.0 / 8.0);  // 1, 2, 2, … keys
  CHECK(small_decoder(config)->cost(8).flops_per_token == Approx(projections + feed_forward + head + windowed));
}

TEST_CASE("decoder: masks of another shape than the ids are refused in words", "[unit]") {
  const auto model = small_decoder(small_config());
  ModelInput in = input_of(some_ids(2, 6));
  in.mask.keys = at::ones({2, 5}, at::kBool);
  CHECK_THROWS_WITH(model->forward(in), Catch::Contains("mask.keys has the shape [2, 5]"));
  in.mask = {};
  in.mask.q_segment = in.mask.k_segment = at::ones({3, 6}, at::kLong);
  CHECK_THROWS_WITH(model->forward(in), Catch::Contains("mask.q_segment"));
}

}  // namespace ordo::test
