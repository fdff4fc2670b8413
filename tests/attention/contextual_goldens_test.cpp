// SPDX-License-Identifier: Apache-2.0
// Content-dependent positions, through their classes and kernels, against other implementations' numbers.
#include "support/catch.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/zeros.h>

#include "attention/golden_call.h"
#include "ordo/positions/cope.h"
#include "ordo/positions/fox.h"
#include "ordo/positions/path.h"

namespace ordo::test {

namespace {

const std::string kContextualKernels[] = {"eager", "tiled"};

Tensor heads_second(const Tensor& x) { return x.transpose(1, 2); }  // [B, L, H, E] <-> [B, H, L, E]

PositionFacts contextual_facts(int64_t heads, int64_t kv_heads, int64_t head_dim, bool causal = true) {
  return {.dim = heads * head_dim,
          .heads = heads,
          .kv_heads = kv_heads,
          .head_dim = head_dim,
          .layers = 1,
          .max_length = 16,
          .causal = causal};
}

void check_fox_bias(const GoldenCase& golden) {
  const bool causal = golden.param("causal", true);
  PositionFacts facts = contextual_facts(golden.param<int64_t>("heads", 0), 1, 4, causal);
  facts.dim = golden.param<int64_t>("dim", 0);
  Fox encoding({}, facts);
  set_parameter(encoding, "weight", golden.tensor("weight"));
  set_parameter(encoding, "bias", golden.tensor("gate_bias"));
  const Tensor x = golden.tensor("x");
  const Positions at = consecutive(0, x.size(1), at::kCPU);
  AttentionPass pass{.q = at, .k = at, .kept = encoding.keep(x, at, 0), .mask = {.causal = causal}};
  const Tensor bias = dense_bias(*encoding.scores(pass), pass), expected = golden.tensor("bias");
  const Tolerance tolerance = golden.tolerance("bias");
  if (causal)
    CHECK(close(bias.tril(), expected.tril(), tolerance));
  else
    CHECK(close(bias, expected, tolerance));
}

void check_fox_attention(const GoldenCase& golden) {
  const Tensor q = heads_second(golden.tensor("q")), k = heads_second(golden.tensor("k"));
  Fox encoding({}, contextual_facts(q.size(1), k.size(1), q.size(3)));
  GoldenCall call{.q = q,
                  .k = k,
                  .v = heads_second(golden.tensor("v")),
                  .mask = {.causal = true},
                  .kept = golden.tensor("log_forget")};
  if (!golden.params().at("window").is_null()) call.mask.window = golden.param<int64_t>("window", 0);
  for (const std::string& kernel : kContextualKernels)
    CHECK(close(heads_second(run_golden(encoding, call, kernel).out), golden.tensor("out"), golden.tolerance("out")));
}

// The authors' module: one head, which stands as the batch.
void check_cope_attention(const GoldenCase& golden) {
  const bool nodiv = golden.id().find("nodiv") != std::string::npos;
  const Tensor q = golden.tensor("q").unsqueeze(1);
  Cope encoding(
      {.npos_max = golden.param<int64_t>("npos_max", 0), .scale = nodiv ? Cope::Scale::nodiv : Cope::Scale::official},
      contextual_facts(1, 1, q.size(3)));
  set_parameter(encoding, "weight", golden.tensor("pos_emb").t());  // theirs is [E, P]
  const GoldenCall call{
      .q = q, .k = golden.tensor("k").unsqueeze(1), .v = golden.tensor("v").unsqueeze(1), .mask = {.causal = true}};
  CHECK(close(run_golden(encoding, call).weights.squeeze(1), golden.tensor("probs"), golden.tolerance("probs")));
  for (const std::string& kernel : kContextualKernels)
    CHECK(close(run_golden(encoding, call, kernel).out.squeeze(1), golden.tensor("out"), golden.tolerance("out")));
}

// The scores are given, not the keys: further channels of the queries hold each row of scores, and the keys pick one.
void check_cope_bias(const GoldenCase& golden) {
  const Tensor q = golden.tensor("q"), expected = golden.tensor("bias").tril();
  const int64_t L = q.size(2), E = q.size(3), P = golden.param<int64_t>("npos_max", 0);
  const Tensor rows = at::cat({q, golden.tensor("logits").tril()}, 3);
  const Tensor picks = at::cat({at::zeros({L, E}), at::eye(L)}, 1).expand({q.size(0), q.size(1), L, E + L});
  Cope encoding({.npos_max = P, .scale = Cope::Scale::nodiv}, contextual_facts(q.size(1), q.size(1), E + L));
  set_parameter(encoding, "weight", at::cat({golden.tensor("pos_emb"), at::zeros({P, L})}, 1));
  const Positions at = consecutive(0, L, at::kCPU);
  const auto bias = encoding.scores({.q = at, .k = at, .scale = 1.0, .mask = {.causal = true}});
  CHECK(close(bias->tile({0, L, 0, L}, rows, picks).tril(), expected, golden.tolerance("bias")));
}

void check_path(const GoldenCase& golden) {
  const Tensor q = heads_second(golden.tensor("q")), k = heads_second(golden.tensor("k"));
  Path encoding({}, contextual_facts(q.size(1), k.size(1), q.size(3)));
  const GoldenCall call{.q = q,
                        .k = k,
                        .v = heads_second(golden.tensor("v")),
                        .mask = {.causal = true},
                        .kept = at::cat({golden.tensor("w").flatten(2), golden.tensor("beta")}, 2),
                        .scale = golden.param("scale", 0.0)};
  for (const std::string& kernel : kContextualKernels)
    CHECK(close(heads_second(run_golden(encoding, call, kernel).out), golden.tensor("out"), golden.tolerance("out")));
}

}  // namespace

TEST_CASE("cope: biases, weights and outputs are those of other implementations", "[golden][positions]") {
  const at::NoGradGuard plain;
  for (const GoldenCase& golden : goldens("positions", "cope")) {
    INFO(golden.id());
    if (golden.has("logits"))
      check_cope_bias(golden);
    else if (golden.has("probs"))
      check_cope_attention(golden);
    else
      FAIL("an unknown case");
  }
}

TEST_CASE("path: outputs are those of another implementation", "[golden][positions]") {
  const at::NoGradGuard plain;
  for (const GoldenCase& golden : goldens("positions", "path")) {
    INFO(golden.id());
    if (golden.has("beta"))
      check_path(golden);
    else
      FAIL("an unknown case");
  }
}

TEST_CASE("fox: biases and outputs are those of other implementations", "[golden][positions]") {
  const at::NoGradGuard plain;
  for (const GoldenCase& golden : goldens("positions", "fox")) {
    INFO(golden.id());
    if (golden.has("gate_bias"))
      check_fox_bias(golden);
    else if (golden.has("log_forget"))
      check_fox_attention(golden);
    else
      FAIL("an unknown case");
  }
}

}  // namespace ordo::test
