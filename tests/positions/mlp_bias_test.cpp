// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/positions/mlp_bias.h"

#include <ATen/ops/full.h>

#include <cmath>

#include "positions/bias_checks.h"
#include "support/goldens.h"

namespace ordo::test {

namespace {
MlpBias mlp_bias(const MlpBias::Config& config = {}, int64_t heads = 3, bool causal = true) {
  MlpBias made(config, {.dim = 32, .heads = heads, .kv_heads = heads, .head_dim = 4, .layers = 2, .causal = causal});
  initialise(made, 7, {}, 2);
  return made;
}

// "mlp.1.0.weight" of another implementation by our name for it: layer, then Linear (0) or norm (1), then tensor.
std::string mlp_tensor_of(const std::string& ours, int64_t depth) {
  const size_t dot = ours.find('.');
  const std::string layer = ours.substr(0, dot), leaf = ours.substr(dot + 1);
  if (layer == "out") return "mlp." + std::to_string(depth) + "." + leaf;
  const std::string index = layer.substr(std::string("layer_").size());
  if (leaf == "norm_weight") return "mlp." + index + ".1." + (index == "0" ? "gamma" : "weight");
  return "mlp." + index + (leaf == "norm_bias" ? ".1.bias" : ".0." + leaf);
}
}  // namespace

TEST_CASE("mlp_bias: biases equal those of another implementation", "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "mlp_bias")) {
    INFO(golden.id());
    const auto depth = golden.param<int64_t>("depth", 0);
    MlpBias encoding = mlp_bias(
        {.dim = golden.param<int64_t>("dim", 0), .depth = depth, .log_distance = golden.param("log_distance", false)},
        golden.param<int64_t>("heads", 0), false);
    for (const auto& name : encoding.named_parameters().keys())
      set_parameter(encoding, name, golden.tensor(mlp_tensor_of(name, depth)));
    const AttentionPass pass = last_rows(golden.param<int64_t>("q_len", 0), golden.param<int64_t>("k_len", 0), false);
    const auto bias = encoding.scores(pass);
    const Tensor want = golden.tensor("bias").unsqueeze(0);
    CHECK(close(dense_bias(*bias, pass).detach(), want, golden.tolerance("bias")));
    CHECK(close(spread_bias(*bias, pass).detach(), want, golden.tolerance("bias")));
  }
}

TEST_CASE("mlp_bias: the network is asked about query - key, or its signed logarithm", "[unit]") {
  for (const bool log_distance : {true, false}) {
    MlpBias encoding = mlp_bias({.dim = 1, .depth = 1, .log_distance = log_distance, .norm = false}, 1, false);
    for (const std::string name : {"layer_0.weight", "out.weight"}) set_parameter(encoding, name, at::ones({1}));
    for (const std::string name : {"layer_0.bias", "out.bias"}) set_parameter(encoding, name, at::zeros({1}));
    const AttentionPass pass = last_rows(3, 3, false);
    const Tensor dense = dense_bias(*encoding.scores(pass), pass).detach();
    const auto silu = [](double x) { return x / (1.0 + std::exp(-x)); };
    CHECK(dense[0][0][2][0].item<double>() == Approx(silu(log_distance ? std::log(3.0) : 2.0)));
    CHECK(dense[0][0][0][1].item<double>() == Approx(silu(log_distance ? -std::log(2.0) : -1.0)));
  }
}

TEST_CASE("mlp_bias: each tile is a piece of the form by offset, wherever the text starts", "[unit]") {
  for (const bool causal : {true, false})
    for (const int64_t start : {0, 5000}) {
      MlpBias encoding = mlp_bias({}, 3, causal);
      CHECK(tiles_agree(encoding, causal, start));
    }
}

TEST_CASE("mlp_bias: positions with gaps get the bias of their distance", "[unit]") {
  MlpBias encoding = mlp_bias({}, 3, false);
  CHECK(gaps_agree(encoding, false));
}

TEST_CASE("mlp_bias: positions far apart get the bias of their distance", "[unit]") {
  MlpBias encoding = mlp_bias({}, 3, false);
  const AttentionPass far = call_at(places({9000000, 3}), places({3, 9000000, 8999990}), false),
                      near = call_at(places({9000000}), places({9000000, 8999990}), false);
  const Tensor dense = dense_bias(*encoding.scores(far), far).detach();
  CHECK(close(dense.slice(2, 0, 1).slice(3, 1), dense_bias(*encoding.scores(near), near).detach(), Tolerance::fp32));
  CHECK_FALSE(close(dense.select(3, 0).select(2, 0), dense.select(3, 1).select(2, 1), Tolerance::fp32));
}

TEST_CASE("mlp_bias: the network learns, by either form alike", "[unit]") {
  for (const bool causal : {true, false}) {
    MlpBias encoding = mlp_bias({}, 3, causal);
    check_gradients_agree(encoding, causal);
  }
}

TEST_CASE("mlp_bias: depth, dim and norm say what there is to learn", "[unit]") {
  const auto keys = mlp_bias({.depth = 2}).named_parameters().keys();
  CHECK(keys.size() == 9);  // three Linear of two, a norm of one, a norm of two
  CHECK(mlp_bias({.depth = 3, .norm = false}).named_parameters().size() == 8);
  CHECK(mlp_bias().named_parameters()["layer_0.weight"].size(0) == 8);  // a quarter of 32
}

}  // namespace ordo::test
