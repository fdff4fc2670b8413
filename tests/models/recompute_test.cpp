// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "ordo/nn/precision.h"
#include "support/conformance.h"
#include "support/models.h"
#include "support/positions.h"
#include "support/small_encodings.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

Decoder::Config dropping_config(std::string_view encoding, std::string_view kernel) {
  Decoder::Config config = small_config(encoding);
  config.attention.kernel = Choice<AttentionKernel>(kernel);
  config.dropout = 0.1;
  config.drop_path = 0.2;
  if (kernel != "sdpa") config.attention.dropout = 0.1;  // sdpa refuses it in words
  return config;
}

// Loss and all gradients after two micro-batches.
std::vector<Tensor> trained(Decoder& model, const std::vector<bool>& recomputed,
                            const AutocastState& autocast = no_autocast()) {
  model.recompute(recomputed);
  model.zero_grad();
  std::vector<Tensor> results;
  for (int64_t micro = 0; micro < 2; ++micro) {
    const Tensor ids = some_ids(3, 10) + micro;
    const Tensor inputs = ids.remainder(kSmallVocabulary);
    Tensor loss;
    {
      const AutocastScope scope(at::kCPU, autocast);
      const Tensor hidden = model.forward(input_of(inputs.slice(1, 0, 9), {.seed = 3, .step = 4, .micro = micro}));
      loss = model.head().loss(hidden, inputs.slice(1, 1), {});
    }
    loss.backward();
    results.push_back(loss.detach());
  }
  for (const auto& p : model.named_parameters()) results.push_back(p.value().grad().clone());
  return results;
}

bool all_same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  bool same = a.size() == b.size();
  for (size_t i = 0; same && i < a.size(); ++i) same = same_bytes(a[i], b[i]);
  return same;
}

// To the bit, but for what the encoding learns: a number that layers share and one layer reads twice is summed layer by
// layer in a replay, and as it comes in a plain run.
void check_replay(const Model& model, const std::vector<Tensor>& found, const std::vector<Tensor>& plain) {
  const auto parameters = model.named_parameters();
  REQUIRE(found.size() == plain.size());
  const size_t losses = plain.size() - parameters.size();
  for (size_t i = 0; i < losses; ++i) CHECK(same_bytes(found[i], plain[i]));
  double largest = 0.0;
  for (size_t i = losses; i < plain.size(); ++i) largest = std::max(largest, plain[i].abs().max().item<double>());
  for (size_t i = losses; i < plain.size(); ++i) {
    const std::string& name = parameters[i - losses].key();
    INFO(name);
    if (name.find(".position.") == std::string::npos)
      CHECK(same_bytes(found[i], plain[i]));
    else
      CHECK(close_gradient(found[i], plain[i], 1e-6, 1e-3 * largest));
  }
}

}  // namespace

TEST_CASE("recompute: loss and gradients are those of the plain run, for every encoding and kernel", "[unit]") {
  for (const KindInfo& encoding : positions().kinds()) {
    if (encoding.kind == "time_age") continue;  // for two-sided stacks alone
    int served = 0;
    for (const KindInfo& kernel : kernels().kinds()) {
      INFO(encoding.kind << " under " << kernel.kind);
      std::shared_ptr<Decoder> model;
      std::vector<Tensor> plain;
      try {
        model = small_decoder(dropping_config(encoding.kind, kernel.kind));
        plain = trained(*model, {});
      } catch (const ConfigError&) {
        continue;  // a kernel that refuses the pair, the dropout or this device
      }
      check_replay(*model, trained(*model, {true, true, true}), plain);
      check_replay(*model, trained(*model, {false, true, false}), plain);
      ++served;
    }
    CHECK(served >= 3);
  }
}

TEST_CASE("recompute: what an encoding learns for scores and values gets its gradients too", "[unit]") {
  for (const KindInfo& encoding : small_encodings().kinds()) {
    StackConfig config = dropping_config("none", "auto");
    Stack stack(config, /*causal=*/true, any_encoding(encoding.kind, position_facts(config, true)));
    initialise(stack, 1, {.std = 0.2}, config.layers);
    const Context context{.at = consecutive(0, 9, at::kCPU), .draw = {.seed = 5}};
    const auto gradients = [&](const std::vector<bool>& recomputed) {
      stack.recompute(recomputed);
      stack.zero_grad();
      stack.forward(noise({2, 9, config.dim}, 4), context).square().mul(0.5).sum().backward();
      std::vector<Tensor> all;
      for (const auto& p : stack.named_parameters()) {
        INFO(encoding.kind << ", " << p.key());
        REQUIRE(p.value().grad().defined());
        all.push_back(p.value().grad().clone());
      }
      return all;
    };
    const auto plain = gradients({});
    INFO(encoding.kind);
    CHECK(all_same(gradients({true, true, true}), plain));
  }
}

TEST_CASE("recompute: with every norm placement and several encodings at once", "[unit]") {
  for (const auto placement : {NormPlacement::post, NormPlacement::sandwich, NormPlacement::parallel}) {
    Decoder::Config config = dropping_config("rope", "auto");
    config.position.push_back(position("learned"));
    config.norm.placement = placement;
    const auto model = small_decoder(config);
    const auto plain = trained(*model, {});
    CHECK(all_same(trained(*model, {true, true, true}), plain));
  }
}

TEST_CASE("recompute: under bf16 autocast loss and gradients stay within rounding", "[unit]") {
  const auto model = small_decoder(dropping_config("rope", "auto"));
  const auto bf16 = autocast_of(Precision::bf16);
  const auto plain = trained(*model, {}, bf16), replayed = trained(*model, {true, true, true}, bf16);
  for (size_t i = 0; i < plain.size(); ++i) CHECK(close_gradient(replayed[i], plain[i], 1e-2));
}

TEST_CASE("recompute, whole: every setting of every encoding, on both sides", "[slow]") {
  for (const std::string& encoding : catalogue_encodings(Scope::whole))
    for (const bool causal : {true, false}) {
      if (!serves_side(encoding, causal)) continue;
      const ConformingCase c{.encoding = encoding, .causal = causal};
      INFO(c.text());
      const auto model = conforming_model(c);
      const auto gradients = [&](const std::vector<bool>& recomputed) {
        model->recompute(recomputed);
        model->zero_grad();
        const Tensor out =
            model->forward({.ids = mixed_ids(20), .at = consecutive(0, 20, at::kCPU), .draw = {.seed = 3, .step = 4}});
        out.backward(noise(out.sizes(), 4));
        std::vector<Tensor> all;
        for (const auto& p : model->named_parameters())
          all.push_back(p.value().grad().defined() ? p.value().grad().clone() : at::zeros_like(p.value()));
        return all;
      };
      const auto plain = gradients({});
      check_replay(*model, gradients({true, true}), plain);
    }
}

}  // namespace ordo::test
