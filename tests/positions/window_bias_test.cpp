// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/positions/window_bias.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stack.h>

#include <cmath>

#include "positions/bias_checks.h"
#include "support/goldens.h"

namespace ordo::test {

namespace {
using WindowVariant = WindowBias::Variant;

WindowBias window_bias(const WindowBias::Config& config, int64_t heads = 2, int64_t max_length = 9,
                       bool causal = false) {
  WindowBias made(
      config,
      {.heads = heads, .kv_heads = heads, .head_dim = 4, .layers = 2, .max_length = max_length, .causal = causal});
  initialise(made, 7, {}, 2);
  return made;
}
// The table that tells its own row numbers.
WindowBias window_rows(const std::vector<int64_t>& window, int64_t max_length) {
  WindowBias made = window_bias({.window = window}, 1, max_length);
  const Tensor table = made.named_parameters()["table"];
  set_parameter(made, "table", at::arange(table.size(1), at::kFloat).unsqueeze(0).expand({2, -1}).contiguous());
  return made;
}
// A small network, where there is one.
std::optional<int64_t> narrow(WindowVariant variant) {
  return variant == WindowVariant::swin_v2 ? std::optional<int64_t>(8) : std::nullopt;
}
Tensor whole_of(WindowBias& encoding, int64_t length) {
  const AttentionPass pass = last_rows(length, length, false);
  return dense_bias(*encoding.scores(pass), pass).detach();
}
// The same in both layers.
Tensor window_twice(const Tensor& t) { return at::stack({t, t}); }

void check_swin(const GoldenCase& golden) {
  const auto window = golden.param<int64_t>("window", 0);
  WindowBias encoding = window_bias({.window = {window}}, golden.param<int64_t>("heads", 0));
  set_parameter(encoding, "table", window_twice(golden.tensor("table")));
  CHECK(close(whole_of(encoding, window * window)[0], golden.tensor("bias"), golden.tolerance("bias")));
}

void check_swin_v2(const GoldenCase& golden) {
  const auto window = golden.param<int64_t>("window", 0), pretrained = golden.param<int64_t>("pretrained_window", 0);
  WindowBias encoding = window_bias({.variant = WindowVariant::swin_v2,
                                     .window = {window},
                                     .pretrained_window = {pretrained},
                                     .hidden = golden.param<int64_t>("hidden", 0)},
                                    golden.param<int64_t>("heads", 0));
  for (const std::string name : {"w1", "b1", "w2"}) set_parameter(encoding, name, window_twice(golden.tensor(name)));
  CHECK(close(whole_of(encoding, window * window)[0], golden.tensor("bias"), golden.tolerance("bias")));
  const int64_t trained = pretrained == 0 ? window : pretrained;
  CHECK(close(WindowBias::coordinates({window, window}, {trained, trained}).to(at::kFloat),
              golden.tensor("coords").view({-1, 2}), golden.tolerance("coords")));
}
}  // namespace

TEST_CASE("window_bias: indices, coordinates and biases equal those of other implementations", "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "window_bias")) {
    INFO(golden.id());
    const auto window = golden.param<int64_t>("window", 0);
    WindowBias rows = window_rows({window}, window * window);
    CHECK(
        close(whole_of(rows, window * window)[0][0].to(at::kLong), golden.tensor("index"), golden.tolerance("index")));
    if (golden.has("table"))
      check_swin(golden);
    else if (golden.has("w1"))
      check_swin_v2(golden);
    else
      FAIL("a case of another form");
  }
}

TEST_CASE("window_bias: a window of other sides counts rows, then columns", "[unit]") {
  WindowBias encoding = window_rows({2, 3}, 6);  // tokens (0,0) (0,1) (0,2) (1,0) (1,1) (1,2)
  const Tensor all = whole_of(encoding, 6)[0][0];
  const auto at = [&](int64_t i, int64_t j) { return all[i][j].item<double>(); };
  CHECK(at(0, 0) == (0 + 1) * 5 + 0 + 2);
  CHECK(at(5, 0) == (1 + 1) * 5 + 2 + 2);
  CHECK(at(2, 3) == (-1 + 1) * 5 + 2 + 2);
  CHECK(at(3, 2) == (1 + 1) * 5 - 2 + 2);
}

TEST_CASE("window_bias: coordinates say where a token stands, in any order, for each row of a batch", "[unit]") {
  WindowBias encoding = window_rows({3, 3}, 9);
  const Tensor all = whole_of(encoding, 9)[0][0];
  const Tensor index = at::tensor({8, 1, 3, 0, 4, 4}, at::kLong).view({2, 3});
  const Tensor coords = at::stack({index.div(3, "floor"), index.remainder(3)}, 2).to(at::kFloat);
  const Positions at{.index = at::zeros({1, 3}, at::kLong), .coords = coords};
  const AttentionPass pass = call_at(at, at, false);
  const Tensor found = dense_bias(*encoding.scores(pass), pass);
  for (int64_t b = 0; b < 2; ++b)
    CHECK(close(found[b][0].detach(), all.index_select(0, index[b]).index_select(1, index[b]), Tolerance::exact));
}

TEST_CASE("window_bias: a tile is a piece of the whole, of consecutive and of listed positions", "[unit]") {
  for (const auto variant : {WindowVariant::swin, WindowVariant::swin_v2}) {
    WindowBias encoding = window_bias({.variant = variant, .window = {4}, .hidden = narrow(variant)}, 2, 16);
    const Tensor all = whole_of(encoding, 16);
    const AttentionPass pass = call_at(consecutive(3, 6, at::kCPU), places({9, 2, 15, 0}), false);
    const Tensor tile = encoding.scores(pass)->tile({1, 5, 1, 4}, {}, {}).detach();
    CHECK(close(tile, all.slice(2, 4, 8).index_select(3, at::tensor({2, 15, 0}, at::kLong)), Tolerance::fp32));
  }
}

TEST_CASE("window_bias: swin_v2 is 16 sigmoid of a network over logarithmic coordinates of the trained window",
          "[unit]") {
  const Tensor axis = WindowBias::coordinates({3, 1}, {5, 5});
  // Offsets -2 … 2 of a window of 5: x = 8 D / 4, s = log2(1 + |x|) / 3 with D's sign.
  CHECK(close(
      axis.select(1, 0),
      at::tensor({-std::log2(5.0) / 3, -std::log2(3.0) / 3, 0.0, std::log2(3.0) / 3, std::log2(5.0) / 3}, at::kDouble),
      Tolerance::fp64));
  CHECK(axis.select(1, 1).abs().max().item<double>() == 0.0);
  WindowBias encoding = window_bias({.variant = WindowVariant::swin_v2, .window = {3}, .hidden = 1}, 1);
  set_parameter(encoding, "w1", at::tensor({1.0, 0.0, 1.0, 0.0}, at::kFloat));
  set_parameter(encoding, "b1", at::zeros({2}));
  set_parameter(encoding, "w2", at::full({2}, 2.0));
  const Tensor all = whole_of(encoding, 9)[0][0];  // relu keeps queries below their keys
  CHECK(all[6][0].item<double>() == Approx(16.0 / (1.0 + std::exp(-2.0 * std::log2(9.0) / 3.0))));
  CHECK(all[0][6].item<double>() == Approx(8.0));
}

TEST_CASE("window_bias: everything learns, one set a layer", "[unit]") {
  for (const auto variant : {WindowVariant::swin, WindowVariant::swin_v2}) {
    WindowBias encoding = window_bias({.variant = variant, .window = {3}, .hidden = narrow(variant)});
    AttentionPass pass = last_rows(9, 9, false);
    Tensor sum = at::zeros({});
    for (const int64_t layer : {0, 1}) {
      pass.layer = layer;
      sum = sum + (dense_bias(*encoding.scores(pass), pass) * noise({1, 1, 9, 9}, 3)).sum() +
            (encoding.query(noise({1, 2, 9, 4}, 4), pass.q, layer) * noise({1, 2, 9, 4}, 5)).sum();
    }
    sum.backward();
    for (const auto& p : encoding.named_parameters()) {
      INFO(p.key());
      for (const int64_t layer : {0, 1}) CHECK(p.value().grad()[layer].abs().max().item<double>() > 0.0);
    }
  }
}

TEST_CASE("window_bias: cosine scores are the cosine times a learned factor, at most 100", "[unit]") {
  for (const auto& [learned, factor] : std::vector<std::pair<double, double>>{{std::log(7.0), 7.0}, {9.0, 100.0}}) {
    WindowBias encoding = window_bias({.window = {3}, .cosine = true});
    set_parameter(encoding, "log_scale", at::full({2, 2}, learned));
    const Positions at = consecutive(0, 2, at::kCPU);
    const Tensor q = at::tensor({3.0, 4.0, 0.0, 0.0}, at::kFloat).view({1, 1, 1, 4}).expand({1, 2, 1, 4}),
                 k = at::tensor({0.0, 2.0, 0.0, 0.0}, at::kFloat).view({1, 1, 1, 4});
    const Tensor score = at::matmul(encoding.query(q, at, 0), encoding.key(k, at, 0).transpose(2, 3)) * 0.5;
    CHECK(score[0][1][0][0].item<double>() == Approx(0.8 * factor));  // the kernel's own factor is 1 / sqrt(4)
  }
}

TEST_CASE("window_bias: cosine is swin_v2's own, and swin's when asked", "[unit]") {
  const auto turned = [](const WindowBias::Config& config) { return window_bias(config).traits().places.query_key; };
  CHECK(turned({.variant = WindowVariant::swin_v2}));
  CHECK_FALSE(turned({.variant = WindowVariant::swin_v2, .cosine = false}));
  CHECK_FALSE(turned({}));
  CHECK(turned({.cosine = true}));
  WindowBias plain = window_bias({});
  const Tensor q = noise({1, 2, 3, 4}, 1);
  CHECK(same_bytes(plain.query(q, consecutive(0, 3, at::kCPU), 0), q));
}

TEST_CASE("window_bias: a zero vector keeps cosine scores and gradients numbers", "[unit]") {
  WindowBias encoding = window_bias({.cosine = true});
  const Tensor q = at::zeros({1, 2, 3, 4}).requires_grad_(true);
  encoding.query(q, consecutive(0, 3, at::kCPU), 0).sum().backward();
  CHECK(q.grad().isfinite().all().item<bool>());
}

TEST_CASE("window_bias: without a window, the smallest square that holds the model's length", "[unit]") {
  const auto holds = [](int64_t max_length, int64_t length) {
    return !window_bias({}, 2, max_length).refuses_length(length).has_value();
  };
  CHECK(holds(16, 16));
  CHECK_FALSE(holds(16, 17));
  CHECK(holds(17, 25));
  CHECK_FALSE(holds(17, 26));
}

TEST_CASE("window_bias: a saved table of another window is stretched to this one", "[unit]") {
  const WindowBias encoding = window_bias({.window = {4}}, 2, 16);
  // Numbers that rise by 1 a row and by 10 a column. One step of the finer table is 5/7 of one of the saved: the cubic
  // weights there (a = -0.75), -0.04373, 0.30758, 0.84548 and -0.10933, make 0.67056 of a rise.
  const Tensor axis = at::arange(5, at::kFloat), grid = axis.unsqueeze(1) + 10.0 * axis.unsqueeze(0);
  const auto found = encoding.resized("table", grid.view({1, 25, 1}).expand({2, 25, 2}).contiguous());
  REQUIRE(found.has_value());
  CHECK_THAT(found->how, Catch::Contains("from a window of 3 x 3 to 4 x 4"));
  const Tensor fine = found->value[1].select(1, 1).view({7, 7});
  CHECK(fine[3][3].item<double>() == Approx(22.0));
  CHECK((fine[4][3] - fine[3][3]).item<double>() == Approx(0.67056).epsilon(1e-4));
  CHECK((fine[3][4] - fine[3][3]).item<double>() == Approx(6.7056).epsilon(1e-4));
  CHECK_FALSE(encoding.resized("table", at::zeros({2, 24, 2})).has_value());
  CHECK_FALSE(encoding.resized("table", at::zeros({2, 25, 3})).has_value());
}

TEST_CASE("window_bias: a saved table of as many rows but other sides is stretched when its window is named",
          "[unit]") {
  const Tensor saved = at::arange(5, at::kFloat).view({1, 5, 1}).expand({2, 5, 2}).contiguous();
  const auto made = [&](const std::vector<int64_t>& from) {
    return window_bias({.window = {1, 3}, .saved_window = from}, 2, 3).resized("table", saved);
  };
  const auto turned = made({3, 1});  // 5 rows of a column become a row, whose numbers are those of the middle
  REQUIRE(turned.has_value());
  CHECK(turned->how == "stretched from a window of 3 x 1 to 1 x 3 (bicubic)");
  CHECK(close(turned->value[1].select(1, 1), at::full({5}, 2.0), Tolerance::fp32));
  CHECK_FALSE(made({1, 3}).has_value());
  CHECK_FALSE(made({}).has_value());
  CHECK_FALSE(made({2, 2}).has_value());  // such a window has 9 rows
}

TEST_CASE("window_bias: a network keeps the coordinates of the window that it was trained on", "[unit]") {
  const auto largest = [](int64_t max_length, int64_t trained) {
    WindowBias encoding(
        {.variant = WindowVariant::swin_v2, .hidden = 1},
        {.heads = 1, .kv_heads = 1, .head_dim = 4, .layers = 1, .max_length = max_length, .trained_length = trained});
    set_parameter(encoding, "w1", at::tensor({1.0, 0.0}, at::kFloat));
    set_parameter(encoding, "w2", at::ones({1}));
    const Tensor all = whole_of(encoding, max_length)[0][0];
    return all[max_length - 1][0].item<double>();  // the farthest row: 16 sigmoid(log2(1 + 8 (w - 1) / (v - 1)) / 3)
  };
  CHECK(largest(9, 0) == Approx(16.0 / (1.0 + std::exp(-std::log2(9.0) / 3.0))));
  CHECK(largest(25, 9) == Approx(16.0 / (1.0 + std::exp(-std::log2(17.0) / 3.0))));
}

TEST_CASE("window_bias: a larger window that is given beside trained weights needs the one that they know", "[unit]") {
  const auto made = [](const WindowBias::Config& config, int64_t max_length, int64_t trained) {
    return WindowBias(
        config,
        {.heads = 1, .kv_heads = 1, .head_dim = 4, .layers = 1, .max_length = max_length, .trained_length = trained});
  };
  const WindowBias::Config larger{.variant = WindowVariant::swin_v2, .window = {5}};
  CHECK_THROWS_WITH(made(larger, 25, 9), Catch::StartsWith("window_bias: the network was trained on 9 tokens") &&
                                             Catch::Contains("pretrained_window"));
  CHECK_NOTHROW(made({.variant = WindowVariant::swin_v2, .window = {5}, .pretrained_window = {3}}, 25, 9));
  CHECK_NOTHROW(made(larger, 9, 9));  // the same model again
  CHECK_NOTHROW(made(larger, 25, 0));
  CHECK_NOTHROW(made({.window = {5}}, 25, 9));  // a table has no coordinates
}

TEST_CASE("window_bias: a scale of the model's own cannot stand beside cosine scores", "[unit]") {
  const auto made = [](const WindowBias::Config& config) {
    return WindowBias(config, {.heads = 1, .kv_heads = 1, .head_dim = 4, .layers = 1, .max_length = 9, .scale = 0.125});
  };
  CHECK_THROWS_WITH(made({.variant = WindowVariant::swin_v2}),
                    Catch::Contains("model.attention.scale (0.125)") && Catch::Contains("cosine: false"));
  CHECK_THROWS_WITH(made({.cosine = true}), Catch::Contains("model.attention.scale"));
  CHECK_NOTHROW(made({.variant = WindowVariant::swin_v2, .cosine = false}));
  CHECK_NOTHROW(made({}));
}

TEST_CASE("window_bias: lengths and places outside of the window are refused in words", "[unit]") {
  WindowBias encoding = window_bias({.window = {2, 3}}, 2, 6);
  CHECK_THAT(encoding.refuses_length(7).value_or(""), Catch::Contains("7 tokens") && Catch::Contains("2 x 3 = 6"));
  const AttentionPass past = call_at(consecutive(0, 1, at::kCPU), places({6}), false);
  CHECK_THROWS_WITH(encoding.scores(past), Catch::Contains("outside of the window of 2 x 3"));
  Positions at{.index = at::zeros({1, 1}, at::kLong), .coords = at::tensor({1.0, 3.0}, at::kFloat).view({1, 1, 2})};
  CHECK_THROWS_WITH(encoding.scores(call_at(at, at, false)), Catch::Contains("outside of the window"));
  at.coords = at::zeros({1, 1, 3});
  CHECK_THROWS_WITH(encoding.scores(call_at(at, at, false)), Catch::Contains("found 3 coordinates"));
}

TEST_CASE("window_bias: windows that cannot be are refused in words", "[unit]") {
  CHECK_THROWS_WITH(window_bias({.window = {3}}, 2, 10), Catch::StartsWith("window_bias: a window of 3 x 3"));
  CHECK_THROWS_WITH(window_bias({.window = {3, 4, 5}}), Catch::Contains("found 3"));
  CHECK_THROWS_WITH(window_bias({.window = {0, 9}}), Catch::Contains("leaves one side open"));
  CHECK_THROWS_WITH(window_bias({}, 2, 0), Catch::Contains("window is 0"));
}

}  // namespace ordo::test
