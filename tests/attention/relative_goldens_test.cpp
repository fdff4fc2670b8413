// SPDX-License-Identifier: Apache-2.0
// Relative attention with content, through its classes and kernels, against other implementations' numbers.
#include "support/catch.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linalg_lstsq.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>

#include "attention/golden_call.h"
#include "ordo/positions/deberta.h"
#include "ordo/positions/shaw.h"
#include "ordo/positions/transformer_xl.h"

namespace ordo::test {

namespace {

PositionFacts golden_facts(const GoldenCase& golden, int64_t max_length) {
  const auto heads = golden.param<int64_t>("heads", 1), head_dim = golden.param<int64_t>("head_dim", 1);
  return {.dim = heads * head_dim,
          .heads = heads,
          .kv_heads = heads,
          .head_dim = head_dim,
          .layers = 1,
          .max_length = max_length,
          .causal = golden.param("causal", false)};
}

Closeness near(const GoldenCase& golden, const std::string& name, const Tensor& found) {
  return close(found, golden.tensor(name), golden.tolerance(name));
}

// Scores where the mask lets through; peers hold a lowest number elsewhere.
Closeness near_scores(const GoldenCase& golden, const Tensor& found, const Mask& mask) {
  const Tensor hidden = mask.tile({0, found.size(2), 0, found.size(3)}, at::kCPU).logical_not();
  return close(found.masked_fill(hidden, 0.0), golden.tensor("scores").masked_fill(hidden, 0.0),
               golden.tolerance("scores"));
}

Tensor heads_of(const Tensor& x, int64_t heads) {  // [B, L, H E] -> [B, H, L, E]
  return x.view({x.size(0), x.size(1), heads, -1}).transpose(1, 2);
}

void check_xl_block(const GoldenCase& golden) {
  const auto memory = golden.param<int64_t>("mem_len", 0), length = golden.param<int64_t>("q_len", 0);
  const PositionFacts facts = golden_facts(golden, memory + length);
  TransformerXl encoding({}, facts);
  set_parameter(encoding, "r_weight", golden.tensor("r_weight"));
  set_parameter(encoding, "u", golden.tensor("u"));
  set_parameter(encoding, "v", golden.tensor("v"));
  CHECK(close(encoding.sinusoids(1 - memory - length, 0, at::kFloat, at::kCPU), golden.tensor("r"),
              golden.tolerance("r")));
  const Tensor x = golden.tensor("x"), source = memory > 0 ? at::cat({golden.tensor("mems"), x}, 1) : x;
  const auto parts = at::linear(source, golden.tensor("qkv_weight")).chunk(3, -1);
  const GoldenCall call{.q = heads_of(parts[0], facts.heads).slice(2, memory),
                        .k = heads_of(parts[1], facts.heads),
                        .v = heads_of(parts[2], facts.heads),
                        .mask = {.causal = true, .offset = memory}};
  const GoldenOutcome found = run_golden(encoding, call);
  CHECK(near_scores(golden, found.scores, call.mask));
  CHECK(near(golden, "probs", found.weights));
  for (const Tensor& out : {found.out, run_golden(encoding, call, "tiled").out}) {
    const Tensor sum = x + at::linear(joined_heads(out), golden.tensor("o_weight"));
    CHECK(near(golden, "out",
               at::layer_norm(sum, {facts.dim}, golden.tensor("ln_weight"), golden.tensor("ln_bias"), 1e-5)));
  }
}

void check_xlnet(const GoldenCase& golden) {
  const auto length = golden.param<int64_t>("q_len", 0);
  const PositionFacts facts = golden_facts(golden, length);
  TransformerXl encoding({}, facts);
  set_parameter(encoding, "r_weight", golden.tensor("r_weight").view({facts.dim, facts.dim}).t());
  set_parameter(encoding, "u", golden.tensor("u"));
  set_parameter(encoding, "v", golden.tensor("v_bias"));
  CHECK(
      close(encoding.sinusoids(-length, length - 1, at::kFloat, at::kCPU), golden.tensor("r"), golden.tolerance("r")));
  const auto heads_first = [&](const char* name) { return golden.tensor(name).transpose(1, 2); };
  const GoldenCall call{.q = heads_first("q"), .k = heads_first("k"), .v = heads_first("v")};
  const GoldenOutcome found = run_golden(encoding, call);
  CHECK(near(golden, "scores", found.scores));
  CHECK(near(golden, "probs", found.weights));
  CHECK(near(golden, "out", found.out.transpose(1, 2)));
  CHECK(near(golden, "out", run_golden(encoding, call, "tiled").out.transpose(1, 2)));
}

// The settings of a case in the words of shaw, and how its output is laid out.
struct ShawCase {
  Shaw::Config config;
  int64_t max_length = 0;
  std::string keys = "table", values = {};
};

ShawCase shaw_case(const GoldenCase& golden) {
  const std::string id = golden.id();
  const auto reach = golden.param<int64_t>("max_relative_position", 0);
  const auto length = golden.param<int64_t>("length", 0);
  if (id.find("relative_key_query") != std::string::npos)
    return {{.variant = Shaw::Variant::relative_key_query}, golden.param<int64_t>("max_position_embeddings", 0)};
  if (id.find("relative_key") != std::string::npos)
    return {{.variant = Shaw::Variant::relative_key}, golden.param<int64_t>("max_position_embeddings", 0)};
  if (golden.params().contains("left"))
    return {{.left = golden.param<int64_t>("left", 0), .right = golden.param<int64_t>("right", 0), .use_value = false},
            length};
  if (golden.param("separate_tables", false))
    return {{.max_relative_positions = reach, .beyond_window = Shaw::Beyond::zero}, length, "table_k", "table_v"};
  if (golden.has("table_k")) return {{.max_relative_positions = reach, .share_kv_table = true}, length, "table_k"};
  FAIL("an unknown case of shaw: " << id);
  return {};
}

void check_shaw(const GoldenCase& golden) {
  const ShawCase c = shaw_case(golden);
  Shaw encoding(c.config, golden_facts(golden, c.max_length));
  set_parameter(encoding, "keys", golden.tensor(c.keys));
  if (!c.values.empty()) set_parameter(encoding, "values", golden.tensor(c.values));
  if (c.config.share_kv_table) REQUIRE(same_bytes(golden.tensor("table_k"), golden.tensor("table_v")));
  const Tensor q = golden.tensor("q"), k = golden.tensor("k");
  const GoldenCall call{
      .q = q, .k = k, .v = golden.has("v") ? golden.tensor("v") : k, .mask = {.causal = golden.param("causal", false)}};
  const GoldenOutcome found = run_golden(encoding, call);
  CHECK(near_scores(golden, found.scores, call.mask));
  if (golden.has("probs")) CHECK(near(golden, "probs", found.weights));
  if (golden.has("out")) {
    for (const Tensor& out : {found.out, run_golden(encoding, call, "tiled").out}) {
      Tensor laid = golden.tensor("out").dim() == 4 ? out : joined_heads(out);
      if (golden.has("o_weight")) laid = at::linear(laid, golden.tensor("o_weight"), golden.tensor("o_bias"));
      CHECK(near(golden, "out", laid));
    }
  }
  const Tensor at = at::arange(q.size(2));
  if (golden.has("index"))
    CHECK(same_bytes(encoding.rows()(at.unsqueeze(0) - at.unsqueeze(1)), golden.tensor("index")));
  if (golden.has("last_query_index"))
    CHECK(same_bytes(encoding.rows()(at.unsqueeze(0) - (q.size(2) - 1)), golden.tensor("last_query_index")));
}

// The weight and bias of a projection that turns `table` [R, D] into vectors [H, R, E].
std::pair<Tensor, Tensor> projection_to(const Tensor& vectors, const Tensor& table) {
  const Tensor rows = vectors.transpose(0, 1).flatten(1).to(at::kDouble);  // [R, H E]
  const Tensor with_one = at::cat({table, at::ones({table.size(0), 1})}, 1).to(at::kDouble);
  const Tensor solved = std::get<0>(at::linalg_lstsq(with_one, rows, std::nullopt, "gelsd"));
  REQUIRE(close(at::matmul(with_one, solved), rows, Tolerance::fp32_sum));
  return {solved.slice(0, 0, -1).t().to(at::kFloat).contiguous(), solved[-1].to(at::kFloat)};
}

void check_deberta(const GoldenCase& golden) {
  const auto length = golden.param<int64_t>("length", 0);
  const PositionFacts facts = golden_facts(golden, length);
  Deberta::Config config{.position_buckets = golden.param<int64_t>("position_buckets", 0),
                         .max_relative_positions = golden.param<int64_t>("max_relative_positions", 0),
                         .share_att_key = golden.param("share_att_key", false)};
  config.pos_att_type.clear();
  for (const std::string type : golden.params().at("pos_att_type"))
    config.pos_att_type.push_back(type == "c2p" ? Deberta::Term::c2p : Deberta::Term::p2c);
  Deberta encoding(config, facts);
  const Tensor table = golden.tensor("rel_embeddings");
  set_parameter(encoding, "weight", table);
  const at::NoGradGuard plain;
  Linear of_q(facts.dim, facts.dim, {}), of_k(facts.dim, facts.dim, {});
  encoding.attach(0, of_q, of_k);
  const auto set = [&](const char* vectors, const std::string& name, const Linear& shared) {
    if (!golden.has(vectors)) return;
    const auto [weight, bias] = projection_to(golden.tensor(vectors), table);
    if (config.share_att_key) {
      shared.weight.copy_(weight);
      shared.bias.copy_(bias);
    } else {
      set_parameter(encoding, name + "_weight", weight);
      set_parameter(encoding, name + "_bias", bias);
    }
  };
  set("pos_k", "pos_key", of_k);
  set("pos_q", "pos_query", of_q);
  const GoldenCall call{.q = golden.tensor("q"),
                        .k = golden.tensor("k"),
                        .v = golden.tensor("v"),
                        .mask = {.keys = golden.tensor("keep_mask").select(1, 0)}};  // the same for all rows
  const GoldenOutcome found = run_golden(encoding, call);
  CHECK(near_scores(golden, found.scores, call.mask));
  CHECK(near(golden, "probs", found.weights));
  for (const Tensor& out : {found.out, run_golden(encoding, call, "tiled").out})
    CHECK(near(golden, "out", joined_heads(out)));
  const Tensor at = at::arange(length);
  const Tensor distance = at.unsqueeze(1) - at.unsqueeze(0), expected = golden.tensor("relative_position");
  if (config.position_buckets > 0)
    CHECK(same_bytes(Deberta::bucket(distance, config.position_buckets, config.max_relative_positions), expected));
  else
    CHECK(same_bytes(distance, expected));
}

}  // namespace

TEST_CASE("deberta: buckets, scores, weights and outputs are those of other implementations", "[golden][positions]") {
  const at::NoGradGuard plain;
  for (const GoldenCase& golden : goldens("positions", "deberta")) {
    INFO(golden.id());
    if (golden.has("bucket"))
      CHECK(same_bytes(Deberta::bucket(golden.tensor("relative_position"), golden.param<int64_t>("position_buckets", 0),
                                       golden.param<int64_t>("max_relative_positions", 0)),
                       golden.tensor("bucket")));
    else if (golden.has("rel_embeddings"))
      check_deberta(golden);
    else
      FAIL("an unknown case");
  }
}

TEST_CASE("transformer_xl: sinusoids, scores, weights and outputs are those of other implementations",
          "[golden][positions]") {
  const at::NoGradGuard plain;
  for (const GoldenCase& golden : goldens("positions", "transformer_xl")) {
    INFO(golden.id());
    if (golden.has("qkv_weight"))
      check_xl_block(golden);
    else if (golden.has("v_bias"))
      check_xlnet(golden);
    else
      FAIL("an unknown case");
  }
}

TEST_CASE("shaw: rows, scores, weights and outputs are those of other implementations", "[golden][positions]") {
  const at::NoGradGuard plain;
  for (const GoldenCase& golden : goldens("positions", "shaw")) {
    INFO(golden.id());
    check_shaw(golden);
  }
}

}  // namespace ordo::test
