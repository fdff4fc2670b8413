// SPDX-License-Identifier: Apache-2.0
// Encodings that move positions, in a list before those that read them: what decoding, padding and recomputing see.
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>

#include "ordo/attention/cache.h"
#include "ordo/config/config.h"
#include "ordo/models/decoder.h"
#include "support/positions.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {
constexpr int64_t kMovedLayers = 2;

std::shared_ptr<Decoder> moved_decoder(const std::string& position) {
  Decoder::Config c;
  load_config_text(
      "{dim: 32, layers: 2, max_length: 24, attention: {heads: 4, kv_heads: 2}, position: " + position + "}",
      walk_of(c), {});
  c.init.std = 0.3;
  return std::make_shared<Decoder>(c, ModelFacts{.vocab_size = 13, .seed = 3});
}
Tensor moved_ids(int64_t L) { return ((at::arange(L) * 7 + 3) * at::arange(1, L + 1)).remainder(13).unsqueeze(0); }

const std::vector<std::string> kMovedLists{
    "[{kind: randomized, max_position: 100}, rope]",
    "[{kind: randomized, max_position: 100, evaluation: drawn, per_row: true}, {kind: learned, max_positions: 100}]",
    "[{kind: shape, max_shift: 900}, sinusoidal_learned]",
    "[{kind: shape, max_shift: 9}, alibi]",
    "[cape, sinusoidal]",
    "[{kind: cape, normalize: false}, rope]",
};
}  // namespace

TEST_CASE("moved positions: decoding through a cache equals one full pass", "[unit]") {
  const at::NoGradGuard plain;
  const Tensor ids = moved_ids(20);
  for (const std::string& list : kMovedLists) {
    INFO(list);
    const auto model = moved_decoder(list);
    model->eval();
    const Tensor whole = model->forward({.ids = ids, .at = consecutive(0, 20, at::kCPU)});
    const auto cache = model->make_cache();
    std::vector<Tensor> parts;
    for (const auto& [from, to] : std::vector<std::pair<int64_t, int64_t>>{{0, 7}, {7, 8}, {8, 9}, {9, 20}})
      parts.push_back(
          model->forward({.ids = ids.slice(1, from, to), .at = consecutive(from, to - from, at::kCPU)}, cache.get()));
    CHECK(close(at::cat(parts, 1), whole, Tolerance{2e-5, 2e-4}));
  }
}

TEST_CASE("moved positions: in training too, padding changes nothing for real tokens", "[unit]") {
  const at::NoGradGuard plain;
  const Tensor ids = moved_ids(12), padded = at::cat({at::ones({1, 5}, at::kLong), ids}, 1);
  Tensor keys = at::ones({1, 17}, at::kBool);
  keys.slice(1, 0, 5).fill_(false);
  const Draw draw{.seed = 4, .step = 7};
  for (const std::string& list : {kMovedLists[0], kMovedLists[1], kMovedLists[2], kMovedLists[3]}) {
    INFO(list);
    const auto model = moved_decoder(list);
    const Tensor alone = model->forward({.ids = ids, .at = consecutive(0, 12, at::kCPU), .draw = draw});
    const Tensor among =
        model->forward({.ids = padded, .at = from_padding(keys), .mask = {.keys = keys}, .draw = draw});
    CHECK(close(among.slice(1, 5), alone, Tolerance{2e-5, 2e-4}));
  }
}

TEST_CASE("moved positions: a block that is recomputed sees the positions that it saw", "[unit]") {
  const Tensor ids = at::cat({moved_ids(20), moved_ids(20) + 1}, 0).remainder(13);
  for (const std::string& list : kMovedLists) {
    INFO(list);
    const auto gradients = [&](const std::vector<bool>& recomputed) {
      const auto model = moved_decoder(list);
      model->recompute(recomputed);
      const Draw draw{.seed = 4, .step = 7};
      const Tensor out = model->forward({.ids = ids, .at = consecutive(0, 20, at::kCPU), .draw = draw});
      out.backward(noise(out.sizes(), 6));
      std::vector<Tensor> flat;
      for (const Tensor& p : model->parameters()) flat.push_back(p.grad().flatten());
      return at::cat(flat);
    };
    CHECK(same_bytes(gradients({}), gradients(std::vector<bool>(kMovedLayers, true))));
  }
}

TEST_CASE("moved positions: training draws positions anew at each step, evaluation does not", "[unit]") {
  const at::NoGradGuard plain;
  const Tensor ids = moved_ids(20);
  for (const std::string& list : kMovedLists) {
    INFO(list);
    const auto model = moved_decoder(list);
    const auto at_step = [&](int64_t step) {
      return model->forward({.ids = ids, .at = consecutive(0, 20, at::kCPU), .draw = {.seed = 1, .step = step}});
    };
    if (list.find("alibi") == std::string::npos) CHECK_FALSE(close(at_step(1), at_step(2), Tolerance::fp32));
    model->eval();
    CHECK(same_bytes(at_step(1), at_step(2)));
  }
}

}  // namespace ordo::test
