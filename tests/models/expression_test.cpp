// SPDX-License-Identifier: Apache-2.0
// Formulas against the encodings that they spell out, in whole models.
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>

#include <algorithm>

#include "support/conformance.h"
#include "support/positions.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

struct Spelled {
  std::string built_in, formula;  // with parameters of the same names
};
const std::vector<Spelled>& spelled() {
  static const std::vector<Spelled> kSpelled{
      {"alibi", "{kind: expression, bias: '-2^(-8*(h + 1)/H)*abs(i - j)'}"},
      {"kerple",
       "{kind: expression, shared: false, parameters: [{name: p}, {name: a}], bias: '-p*log(1 + a*abs(i - j))'}"}};
  return kSpelled;
}
constexpr Tolerance kSpelledAlike{1e-6, 1e-6};

std::shared_ptr<Model> exact_model(const ConformingCase& c) {
  const auto model = conforming_model(c);
  model->to(at::kDouble);
  return model;
}

// The formula's model with the built-in one's weights.
std::pair<std::shared_ptr<Model>, std::shared_ptr<Model>> twins(const Spelled& pair, const std::string& kernel,
                                                                bool causal) {
  const auto built_in = exact_model({.encoding = pair.built_in, .kernel = kernel, .causal = causal}),
             formula = exact_model({.encoding = pair.formula, .kernel = kernel, .causal = causal});
  const at::NoGradGuard plain;
  const auto into = formula->named_parameters();
  REQUIRE(into.size() == built_in->named_parameters().size());
  for (const auto& p : built_in->named_parameters()) into[p.key()].copy_(p.value());
  return {built_in, formula};
}

Tensor hidden(Model& model, const Tensor& ids, int64_t from = 0, Cache* cache = nullptr) {
  return model.forward({.ids = ids, .at = consecutive(from, ids.size(1), at::kCPU)}, cache);
}

}  // namespace

TEST_CASE("expression: alibi and kerple as formulas give the built-in ones' outputs and gradients", "[unit]") {
  const Tensor ids = at::cat({mixed_ids(23), mixed_ids(23, 9)}, 0);
  for (const Spelled& pair : spelled())
    for (const std::string kernel : {"eager", "tiled", "auto"})
      for (const bool causal : {true, false}) {
        INFO(pair.built_in << " under " << kernel << (causal ? ", causal" : ""));
        const auto [built_in, formula] = twins(pair, kernel, causal);
        const Tensor expected = hidden(*built_in, ids), found = hidden(*formula, ids);
        CHECK(close(found, expected, kSpelledAlike));
        const Tensor weight = noise(expected.sizes(), 4, at::kDouble);
        expected.backward(weight), found.backward(weight);
        const auto wanted = built_in->named_parameters();
        double largest = 0.0;
        for (const auto& p : wanted)
          if (p.value().grad().defined()) largest = std::max(largest, p.value().grad().abs().max().item<double>());
        for (const auto& p : formula->named_parameters()) {
          INFO(p.key());
          const Tensor gradient = p.value().grad();
          REQUIRE(gradient.defined() == wanted[p.key()].grad().defined());
          if (gradient.defined()) CHECK(close_gradient(gradient, wanted[p.key()].grad(), 1e-6, 1e-3 * largest));
        }
      }
}

TEST_CASE("expression: alibi and kerple as formulas decode through a cache as the built-in ones do", "[unit]") {
  const at::NoGradGuard plain;
  const Tensor ids = mixed_ids(12);
  for (const Spelled& pair : spelled()) {
    INFO(pair.built_in);
    const auto [built_in, formula] = twins(pair, "auto", /*causal=*/true);
    const auto cache = caches().build("full", {.layers = kConformingLayers});
    std::vector<Tensor> steps{hidden(*formula, ids.slice(1, 0, 7), 0, cache.get())};
    for (int64_t at = 7; at < 12; ++at) steps.push_back(hidden(*formula, ids.slice(1, at, at + 1), at, cache.get()));
    CHECK(close(at::cat(steps, 1), hidden(*built_in, ids), kSpelledAlike));
  }
}

}  // namespace ordo::test
