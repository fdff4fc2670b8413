// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>

#include "ordo/config/config.h"
#include "ordo/ops/autocast.h"
#include "support/models.h"
#include "support/small_encodings.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

Tensor hidden(int64_t rows, int64_t length, int64_t dim) {
  const Tensor x = at::empty({rows, length, dim});
  draw_normal(x, 1.0, 9);
  return x;
}

// A block's own parts, and what it should make of them.
struct Parts {
  explicit Parts(Block& block) : children(block.named_children()), attention(block.attention()) {}
  Tensor norm(const char* name, const Tensor& x) const {
    return std::dynamic_pointer_cast<Norm>(children[name])->forward(x);
  }
  Tensor feed(const Tensor& x) const {
    return std::dynamic_pointer_cast<FeedForward>(children["feed_forward"])->forward(x, {});
  }
  Tensor attend(const Tensor& x) const {
    return attention.forward(x, {.at = consecutive(0, x.size(1), at::kCPU), .mask = {.causal = true}}).out;
  }
  torch::OrderedDict<std::string, std::shared_ptr<torch::nn::Module>> children;
  MultiHeadAttention& attention;
};

Tensor expected(const Parts& p, Tensor x, NormPlacement placement) {
  switch (placement) {
    case NormPlacement::pre:
      x = x + p.attend(p.norm("norm1", x));
      return x + p.feed(p.norm("norm2", x));
    case NormPlacement::post:
      x = p.norm("norm1", x + p.attend(x));
      return p.norm("norm2", x + p.feed(x));
    case NormPlacement::sandwich:
      x = x + p.norm("after1", p.attend(p.norm("norm1", x)));
      return x + p.norm("after2", p.feed(p.norm("norm2", x)));
    case NormPlacement::parallel: {
      const Tensor normed = p.norm("norm1", x);
      return x + p.attend(normed) + p.feed(normed);
    }
  }
  return {};
}

std::string problems_of(const StackConfig& config) {
  Problems problems;
  check(config, "model", problems);
  return problems.report();
}

}  // namespace

TEST_CASE("block: each norm placement follows its formula", "[unit]") {
  for (const auto placement :
       {NormPlacement::pre, NormPlacement::post, NormPlacement::sandwich, NormPlacement::parallel}) {
    StackConfig config = small_config();
    config.norm.placement = placement;
    Stack stack(config, /*causal=*/true);
    initialise(stack, 1, {.std = 0.3}, config.layers);
    Block& block = *stack.blocks()[0];
    const Tensor x = hidden(2, 5, config.dim);
    const Context context{.at = consecutive(0, 5, at::kCPU), .mask = {.causal = true}};
    INFO("placement " << static_cast<int>(placement));
    CHECK(close(block.forward(x, context), expected(Parts(block), x, placement), Tolerance::fp32));
    CHECK(stack.named_children().contains("norm") == (placement != NormPlacement::post));
  }
}

TEST_CASE("block: with its branches dropped, by dropout or by stochastic depth, the residual is left alone", "[unit]") {
  constexpr double kAll = 0.999999;
  for (const bool by_dropout : {true, false}) {
    StackConfig config = small_config();
    (by_dropout ? config.dropout : config.drop_path) = kAll;
    Stack stack(config, /*causal=*/true);
    initialise(stack, 1, {.std = 0.3}, config.layers);
    const Tensor x = hidden(2, 5, config.dim);
    const Context context{.at = consecutive(0, 5, at::kCPU), .mask = {.causal = true}, .draw = {.seed = 6}};
    CHECK(same_bytes(stack.blocks().back()->forward(x, context), x));
  }
}

TEST_CASE("stack: dropout acts on the embedding", "[unit]") {
  StackConfig config = small_config("none");
  config.dropout = 0.999999;
  Stack stack(config, /*causal=*/true);
  initialise(stack, 1, {}, config.layers);
  const Tensor out = stack.forward(hidden(2, 5, config.dim), {.at = consecutive(0, 5, at::kCPU), .draw = {.seed = 6}});
  CHECK(out.abs().max().item<double>() == 0.0);  // nothing is left for the blocks and the last norm
}

TEST_CASE("stack: a window pattern is repeated over the layers, and zero is no window", "[unit]") {
  StackConfig config = small_config();
  config.layers = 5;
  config.attention.window = {4, 4, 0};
  std::vector<int64_t> windows;
  for (const BlockConfig& block : resolve_blocks(config)) windows.push_back(block.attention.window.value_or(-1));
  CHECK(windows == std::vector<int64_t>{4, 4, -1, 4, 4});
}

TEST_CASE("stack: a window of one token lets each token see itself alone", "[unit]") {
  Decoder::Config config = small_config("none");
  config.attention.window = {1};
  const auto model = small_decoder(config);
  const Tensor ids = some_ids(1, 6), other = ids.clone();
  other[0][0] = (ids[0][0] + 1).remainder(kSmallVocabulary);
  CHECK(close(model->forward(input_of(ids)).slice(1, 1), model->forward(input_of(other)).slice(1, 1), Tolerance::fp32));
}

TEST_CASE("stack: stochastic depth rises linearly to the last block", "[unit]") {
  StackConfig config = small_config();
  config.layers = 4;
  config.drop_path = 0.3;
  std::vector<double> rates;
  for (const BlockConfig& block : resolve_blocks(config)) rates.push_back(block.drop_path);
  CHECK(rates == std::vector<double>{0.0, 0.3 / 3.0, 0.3 * 2.0 / 3.0, 0.3});
  config.layers = 1;
  CHECK(resolve_blocks(config)[0].drop_path == 0.3);
}

TEST_CASE("stack: settings left open are resolved once", "[unit]") {
  StackConfig config = small_config();
  config.norm.eps = 1e-3;
  config.attention.kv_heads = 0;
  const BlockConfig block = resolve_blocks(config)[2];
  CHECK(block.attention.config.kv_heads == 4);
  CHECK(block.attention.config.head_dim == 4);
  CHECK(block.attention.layer == 2);
  CHECK(block.feed_forward.hidden == 64);
  CHECK(block.attention.norm_eps == config.norm.eps);
}

TEST_CASE("stack: relations between options are reported with both paths and values", "[unit]") {
  StackConfig config = small_config();
  config.dim = 18;
  CHECK_THAT(problems_of(config), Catch::Contains("model.attention.heads (4) must divide model.dim (18)") &&
                                      Catch::Contains("make dim 16 or 20"));
  config = small_config();
  config.attention.kv_heads = 3;
  CHECK_THAT(
      problems_of(config),
      Catch::Contains("model.attention.kv_heads (3) must divide model.attention.heads (4)") && Catch::Contains("is 2"));
  config = small_config();
  config.attention.window = {1, 2, 3, 4};
  CHECK_THAT(problems_of(config),
             Catch::Contains("model.attention.window has 4 entries") && Catch::Contains("model.layers (3)"));
  CHECK(problems_of(small_config()).empty());
}

TEST_CASE("stack: a head width of its own frees the heads from dividing dim", "[unit]") {
  Decoder::Config config = small_config();
  config.dim = 18;
  config.attention.head_dim = 6;
  const auto model = small_decoder(config);
  CHECK(model->named_parameters()["decoder.blocks.0.attention.q.weight"].sizes() == at::IntArrayRef({24, 18}));
  CHECK(model->forward(input_of(some_ids(1, 4))).size(2) == 18);
}

TEST_CASE("stack: a kernel that can never serve an encoding is refused at the encoding's line", "[unit]") {
  Decoder::Config config = small_config("rope");
  config.attention.kernel = Choice<AttentionKernel>("flash");  // never sees scores
  CHECK_NOTHROW(small_decoder(config));
  config.position.push_back(position("alibi"));
  config.position[1].source = {"lm.yaml", 9, 5};
  CHECK_THROWS_WITH(small_decoder(config),
                    Catch::StartsWith("lm.yaml:9:5: ") && Catch::Contains("flash") && Catch::Contains("alibi"));
}

TEST_CASE("stack: a kernel that can never serve a ready encoding is refused too", "[unit]") {
  StackConfig config = small_config("none");
  config.attention.kernel = Choice<AttentionKernel>("flash");
  const auto ready = any_encoding("offset_table", position_facts(config, true));
  config.position = {position("rope")};  // nothing to this stack
  config.position[0].source = {"lm.yaml", 9, 5};
  CHECK_THROWS_WITH(Stack(config, /*causal=*/true, ready), Catch::StartsWith("attention kernel flash") &&
                                                               Catch::Contains("scores") &&
                                                               Catch::Contains("this encoding"));
}

TEST_CASE("stack: under autocast the encoding of the input computes in full precision", "[unit]") {
  struct Watcher final : PositionEncoding {
    PositionTraits traits() const override { return {.places = {.input = true}}; }
    Tensor input(const Tensor& x, const Positions&) override {
      exact = !autocast_state(at::kCPU).enabled;
      return x;
    }
    bool exact = false;
  };
  const StackConfig config = small_config("none");
  const auto watcher = std::make_shared<Watcher>();
  Stack stack(config, /*causal=*/true, watcher);
  const AutocastScope half(at::kCPU, {.enabled = true, .dtype = at::kBFloat16});
  stack.forward(hidden(1, 5, config.dim), {.at = consecutive(0, 5, at::kCPU)});
  CHECK(watcher->exact);
}

TEST_CASE("stack: recompute flags must be one a block", "[unit]") {
  const auto model = small_decoder(small_config());
  CHECK_THROWS_WITH(model->recompute({true}), Catch::Contains("1 flags for 3 blocks"));
}

}  // namespace ordo::test
