// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/positions/fire.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <cmath>

#include "ordo/positions/scalar_mlp.h"
#include "positions/bias_checks.h"
#include "support/goldens.h"

namespace ordo::test {

namespace {
Fire fire(const Fire::Config& config = {}, const PositionFacts& more = {}) {
  PositionFacts facts = more;
  facts.heads = facts.kv_heads = facts.heads == 0 ? 2 : facts.heads;
  facts.layers = std::max<int64_t>(facts.layers, 1);
  if (facts.max_length == 0) facts.max_length = 16;
  Fire made(config, facts);
  initialise(made, 7, {}, facts.layers);
  return made;
}

// One hidden unit of weight 1: the bias of head h is then (h + 1) times the share that it is a function of.
Fire bare_fire(double c, double L) {
  Fire made = fire({.hidden = 1, .init_c = c, .init_L = L});
  set_parameter(made, "w1", at::ones({1}));
  set_parameter(made, "b1", at::zeros({1}));
  set_parameter(made, "w2", at::tensor({1.0, 2.0}, at::kFloat));
  set_parameter(made, "b2", at::zeros({2}));
  return made;
}

// Sees every allocation of LibTorch on this thread.
class FireMemory : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, int64_t size, size_t, size_t, c10::Device) override {
    now_ += size;
    peak = std::max(peak, now_);
  }
  bool memoryProfilingEnabled() const override { return true; }
  int64_t peak = 0;

 private:
  int64_t now_ = 0;
};
}  // namespace

TEST_CASE("fire: biases equal those of another implementation", "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "fire")) {
    INFO(golden.id());
    Fire encoding = fire({.hidden = golden.param<int64_t>("mlp_width", 0),
                          .init_L = golden.param("init_L", 0.0),
                          .eps = golden.param("eps", 0.0)},
                         {.heads = golden.param<int64_t>("heads", 0)});
    for (const auto& name : encoding.named_parameters().keys()) set_parameter(encoding, name, golden.tensor(name));
    const Tensor want = golden.tensor("bias");
    const AttentionPass pass = last_rows(want.size(2), want.size(3));
    const auto bias = encoding.scores(pass);
    CHECK(close(seen_of(dense_bias(*bias, pass).detach()), seen_of(want), golden.tolerance("bias")));
    const bool within =
        want.size(2) <= golden.param("init_L", 0.0) * encoding.named_parameters()["L_multiplier"].item<double>();
    INFO("all queries before the threshold: " << within);
    if (within) CHECK(close(seen_of(spread_bias(*bias, pass).detach()), seen_of(want), golden.tolerance("bias")));
  }
}

TEST_CASE("fire: a bias is the share ln(|c d| + 1) / ln(|c max(i, L)| + 1), through the learned function", "[unit]") {
  Fire encoding = bare_fire(-0.5, 4.0);
  const AttentionPass pass = last_rows(9, 9);
  const Tensor dense = dense_bias(*encoding.scores(pass), pass).detach();
  const auto share = [](double d, double reach) { return std::log(0.5 * d + 1.0) / std::log(0.5 * reach + 1.0); };
  CHECK(dense[0][0][3][1].item<double>() == Approx(share(2.0, 4.0)));  // i = 3: below L
  CHECK(dense[0][1][8][2].item<double>() == Approx(2.0 * share(6.0, 8.0)));
  CHECK(dense[0][0][8][0].item<double>() == Approx(1.0));
  CHECK(dense[0][0][5][5].item<double>() == 0.0);
}

TEST_CASE("fire: until a query passes the threshold the bias is a function of the offset", "[unit]") {
  Fire encoding = fire({.init_L = 12.0});
  CHECK(tiles_agree(encoding, true, 0));
  CHECK(tiles_agree(encoding, true, 4));  // the last query stands at 12
  CHECK_FALSE(encoding.scores(last_rows(6, 9, true, 5))->by_offset().has_value());
  set_parameter(encoding, "L_multiplier", at::full({1}, -2.0));
  CHECK(tiles_agree(encoding, true, 5));
}

TEST_CASE("fire: a tile past the threshold is a piece of the whole bias", "[unit]") {
  Fire encoding = fire({.init_L = 3.0});
  const AttentionPass pass = last_rows(10, 14, true, 2);
  const auto bias = encoding.scores(pass);
  CHECK(close(bias->tile({2, 7, 1, 9}, {}, {}).detach(), dense_bias(*bias, pass).detach().slice(2, 2, 7).slice(3, 1, 9),
              Tolerance::fp32));
}

TEST_CASE("fire: positions with gaps get the bias of their own place", "[unit]") {
  for (const double L : {4.0, 100.0}) {
    Fire encoding = fire({.init_L = L});
    CHECK(gaps_agree(encoding, true));
  }
}

TEST_CASE("fire: the function, c and the threshold learn, by either form alike", "[unit]") {
  Fire encoding = fire();
  check_gradients_agree(encoding, true);
}

TEST_CASE("fire: past the threshold everything learns through tiles", "[unit]") {
  Fire encoding = fire({.init_L = 5.0});
  const AttentionPass pass = last_rows(9, 9);
  (seen_of(dense_bias(*encoding.scores(pass), pass)) * noise({1, 1, 9, 9}, 3)).sum().backward();
  for (const auto& p : encoding.named_parameters()) {
    INFO(p.key());
    CHECK(p.value().grad().abs().max().item<double>() > 0.0);
  }
}

TEST_CASE("fire: a large tile and its way back hold a few tiles, never the hidden layer of one", "[unit]") {
  Fire encoding = fire({.init_L = 5.0}, {.heads = 4});
  const AttentionPass pass = last_rows(64, 16384);
  const auto watch = std::make_shared<FireMemory>();
  {
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, watch);
    const Tensor tile = dense_bias(*encoding.scores(pass), pass);
    tile.backward(at::ones({1, 1, 1, 1}).expand_as(tile));
  }
  constexpr int64_t kTile = 4 * 64 * 16384 * 4;  // fp32 of four heads; the hidden layer would be eight of these
  CHECK(watch->peak > kTile);
  CHECK(watch->peak < 4 * kTile);
}

TEST_CASE("fire: one function serves all layers, or each has its own", "[unit]") {
  for (const bool shared : {true, false}) {
    Fire encoding = fire({.shared = shared}, {.layers = 2});
    AttentionPass first = last_rows(2, 4), second = first;
    second.layer = 1;
    CHECK(same_bytes(dense_bias(*encoding.scores(first), first).detach().contiguous(),
                     dense_bias(*encoding.scores(second), second).detach().contiguous()) == shared);
  }
}

TEST_CASE("fire: the threshold is the length trained at, also when a longer one is asked for", "[unit]") {
  const auto relative_up_to = [](const PositionFacts& facts, int64_t last) {
    return fire({}, facts).scores(last_rows(1, last + 1))->by_offset().has_value();
  };
  CHECK(relative_up_to({.max_length = 8}, 8));
  CHECK_FALSE(relative_up_to({.max_length = 8}, 9));
  CHECK_FALSE(relative_up_to({.max_length = 32, .trained_length = 8}, 9));
}

TEST_CASE("fire: settings that cannot work are refused in words", "[unit]") {
  PositionFacts both = small_facts(), endless = small_facts();
  both.causal = false;
  endless.max_length = 0;
  CHECK_THROWS_WITH(Fire({}, both), Catch::StartsWith("fire: ") && Catch::Contains("t5_bias"));
  CHECK_THROWS_WITH(Fire({}, endless), Catch::Contains("init_L is 0"));
  CHECK_THROWS_WITH(Fire({.init_c = 0.0}, small_facts()), Catch::Contains("init_c 0"));
}

TEST_CASE("fire: real-valued positions are refused in words", "[unit]") {
  Fire encoding = fire();
  AttentionPass pass = last_rows(3, 3);
  pass.k.coords = at::zeros({1, 3, 1});
  CHECK_THROWS_WITH(encoding.scores(pass), Catch::Contains("real-valued positions"));
}

TEST_CASE("scalar_mlp: values and gradients over many chunks are those of plain operators", "[unit]") {
  const auto leaf = [](at::IntArrayRef shape, uint64_t key) {
    return noise(shape, key, at::kDouble).requires_grad_(true);
  };
  const Tensor x = leaf({3, 11000}, 1), w1 = leaf({5}, 2), b1 = leaf({5}, 3), w2 = leaf({2, 5}, 4), b2 = leaf({2}, 5);
  const Tensor weight = noise({2, 3, 11000}, 6, at::kDouble);
  const Tensor plain =
      (w2.unsqueeze(2).unsqueeze(3) * (w1.view({5, 1, 1}) * x + b1.view({5, 1, 1})).relu().unsqueeze(0)).sum(1) +
      b2.view({2, 1, 1});
  const Tensor found = scalar_mlp(x, w1, b1, w2, b2);
  CHECK(close(found.detach(), plain.detach(), Tolerance::fp64));
  const auto gradients = [&](const Tensor& out) {
    for (const Tensor& t : {x, w1, b1, w2, b2}) t.mutable_grad() = Tensor();
    (out * weight).sum().backward();
    std::vector<Tensor> all;
    for (const Tensor& t : {x, w1, b1, w2, b2}) all.push_back(t.grad().clone());
    return all;
  };
  const auto got = gradients(found), want = gradients(plain);
  for (size_t i = 0; i < want.size(); ++i) CHECK(close_gradient(got[i], want[i], 1e-10));
}

}  // namespace ordo::test
