// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "ordo/config/config.h"
#include "ordo/positions/alibi.h"
#include "ordo/positions/expression.h"
#include "support/positions.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

using Parameters = std::vector<Expression::Parameter>;
constexpr Tolerance kSame{1e-6, 1e-6};

std::shared_ptr<Expression> formula(const std::string& bias, const Parameters& parameters = {}, bool causal = true,
                                    bool shared = true) {
  PositionFacts facts = small_facts();
  facts.causal = causal;
  const auto made =
      std::make_shared<Expression>(Expression::Config{.parameters = parameters, .shared = shared, .bias = bias}, facts);
  initialise(*made, 1, {}, facts.layers);
  return made;
}
std::string formula_refused(const std::string& bias, const Parameters& parameters = {}, bool causal = true) {
  try {
    formula(bias, parameters, causal);
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}
const Parameters kKerpleLike{{.name = "p", .init = {0.5, 1.0, 1.5, 2.0}}, {.name = "a", .init = {0.1, 0.4, 0.7, 1.0}}};
constexpr const char* kKerpleFormula = "-p*log(1 + a*abs(i - j))";
const Parameters kClippedTable{{.name = "t", .size = 4, .init = {0.5, -0.25, 1.0, 2.0}}};
constexpr const char* kTableFormula = "t[min(abs(i - j), 3)]";

// The last `rows` of `columns` positions, from the first on.
AttentionPass formula_pass(int64_t rows, int64_t columns, bool causal = true, int64_t first = 0) {
  return {.q = consecutive(first + columns - rows, rows, at::kCPU),
          .k = consecutive(first, columns, at::kCPU),
          .mask = {.causal = causal, .offset = columns - rows}};
}
Tensor formula_distances(const AttentionPass& pass) {  // i - j [q, k]
  return (pass.q.index[0].unsqueeze(1) - pass.k.index[0].unsqueeze(0)).to(at::kFloat);
}
// Where the pass lets nobody look, both are 0.
Tensor seen_part(const Tensor& bias, const AttentionPass& pass) {
  const Tensor seen = pass.mask.tile({0, pass.q.length(), 0, pass.k.length()}, at::kCPU);
  return bias * seen;
}

// Dense causal attention with a bias: the output and the gradients of what is asked for, of a weighted sum.
std::vector<Tensor> attended(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias,
                             const AttentionPass& pass, std::vector<Tensor> wanted) {
  const Tensor seen = pass.mask.tile({0, pass.q.length(), 0, pass.k.length()}, at::kCPU);
  const Tensor scores = at::matmul(q, k.transpose(2, 3)) * 0.35 + bias;
  const Tensor out = at::matmul(scores.masked_fill(seen.logical_not(), -1e30).softmax(-1), v);
  for (Tensor& t : wanted) t.mutable_grad() = Tensor();
  (out * noise(out.sizes(), 77)).sum().backward();
  std::vector<Tensor> all{out.detach()};
  for (const Tensor& t : wanted) all.push_back(t.grad().clone());
  return all;
}

// The formula's bias against the same bias written in tensors: outputs, gradients of q, k, v and of each parameter.
void same_attention(Expression& encoding,
                    const std::function<Tensor(const Tensor& distance, const Tensor& a, const Tensor& b)>& dense) {
  const AttentionPass pass = formula_pass(7, 9);
  const Tensor q = noise({2, 4, 7, 8}, 1).requires_grad_(), k = noise({2, 4, 9, 8}, 2).requires_grad_(),
               v = noise({2, 4, 9, 8}, 3).requires_grad_();
  const auto parameters = encoding.parameters();
  std::vector<Tensor> wanted{q, k, v};
  wanted.insert(wanted.end(), parameters.begin(), parameters.end());
  const Tensor distance = formula_distances(pass).clamp_min(0);
  const auto got = attended(q, k, v, dense_bias(*encoding.scores(pass), pass), pass, wanted);
  const auto expected = attended(q, k, v, dense(distance, parameters[0], parameters.back()), pass, wanted);
  for (size_t n = 0; n < got.size(); ++n) {
    INFO("tensor " << n);
    CHECK(got[n].abs().max().item<double>() > 1e-3);
    CHECK(close(got[n], expected[n], kSame));
  }
}

}  // namespace

TEST_CASE("expression: without a formula it is alibi", "[unit]") {
  const auto encoding = formula(Expression::Config{}.bias);
  Alibi alibi({}, small_facts());
  for (const auto& pass : {formula_pass(6, 6), formula_pass(1, 9), formula_pass(3, 7, true, 1000)}) {
    const Tensor got = dense_bias(*encoding->scores(pass), pass), expected = dense_bias(*alibi.scores(pass), pass);
    CHECK(close(seen_part(got, pass), seen_part(expected, pass), kSame));
  }
  CHECK(encoding->traits().relative);
  CHECK(encoding->traits().unbounded);
}

TEST_CASE("expression: kerple as a formula attends and learns as kerple in tensors", "[unit]") {
  same_attention(*formula(kKerpleFormula, kKerpleLike), [](const Tensor& d, const Tensor& p, const Tensor& a) {
    return -per_head(p) * (per_head(a) * d).log1p();
  });
}

TEST_CASE("expression: a clipped table as a formula attends and learns as the table in tensors", "[unit]") {
  same_attention(*formula(kTableFormula, kClippedTable), [](const Tensor& d, const Tensor& t, const Tensor&) {
    return at::index_select(t, 1, d.clamp_max(3).to(at::kLong).flatten()).view({1, 4, d.size(0), d.size(1)});
  });
}

TEST_CASE("expression: ten numbers by hand", "[unit]") {
  const AttentionPass pass = formula_pass(3, 3, false);
  const auto at = [&](const std::string& bias, const Parameters& parameters, int64_t h, int64_t i, int64_t j) {
    const auto encoding = formula(bias, parameters, false);
    return dense_bias(*encoding->scores(pass), pass)[0][h][i][j].item<double>();
  };
  CHECK(at("i", {}, 0, 2, 1) == 2.0);
  CHECK(at("j", {}, 0, 2, 1) == 1.0);
  CHECK(at("distance", {}, 0, 0, 2) == -2.0);
  CHECK(at("h", {}, 3, 0, 0) == 3.0);
  CHECK(at("H", {}, 3, 0, 0) == 4.0);
  CHECK(at("length", {}, 0, 0, 0) == 3.0);
  CHECK(at("i*10 + j", {}, 1, 2, 1) == 21.0);
  CHECK(at("(j > i)*7", {}, 0, 0, 1) == 7.0);
  CHECK(at("a*i", {{.name = "a", .init = {1, 2, 3, 4}}}, 2, 2, 0) == 6.0);
  CHECK(at("t[j]", {{.name = "t", .size = 16, .init = std::vector<double>(16, 0.5)}}, 0, 0, 2) == 0.5);
  CHECK(at("2^(-8*(h + 1)/H)", {}, 1, 0, 0) == 0.0625);
  CHECK(at("min(i, j, 1) + max(i, j)", {}, 0, 2, 1) == 3.0);
}

TEST_CASE("expression: a part of the scores is the slice of the whole", "[unit]") {
  for (const bool causal : {true, false})
    for (const std::string bias : {kKerpleFormula, "-p*(i/max(j, 1) + a)", "(p + a)*distance/length"}) {
      const auto encoding = formula(bias, kKerpleLike, causal);
      const AttentionPass pass = formula_pass(5, 9, causal);
      const auto scores = encoding->scores(pass);
      INFO(bias << (causal ? " causal" : ""));
      const Tensor part = scores->tile({2, 4, 3, 8}, {}, {}), whole = dense_bias(*scores, pass);
      CHECK(same_bytes(part.contiguous(), whole.slice(2, 2, 4).slice(3, 3, 8).contiguous()));
    }
}

TEST_CASE("expression: the form by offset is there for what depends on the difference, and equals the tiles",
          "[unit]") {
  for (const bool causal : {true, false}) {
    const AttentionPass pass = formula_pass(3, 5, causal);
    for (const auto& [bias, parameters] : std::vector<std::pair<std::string, Parameters>>{
             {kKerpleFormula, kKerpleLike}, {kTableFormula, kClippedTable}, {"2", {}}, {"(j > i)*h", {}}}) {
      const auto scores = formula(bias, parameters, causal)->scores(pass);
      const Tensor vector = scores->by_offset().value(), dense = dense_bias(*scores, pass)[0];
      INFO(bias);
      for (int64_t row = 0; row < 3; ++row)
        CHECK(same_bytes(vector.slice(1, 2 - row, 7 - row).contiguous(), dense.select(1, row).contiguous()));
    }
  }
  const AttentionPass pass = formula_pass(3, 5);
  const auto absolute = formula("i + j");
  CHECK_FALSE(absolute->scores(pass)->by_offset().has_value());
  CHECK_FALSE(absolute->traits().relative);
}

TEST_CASE("expression: a step of decoding sees the row of the whole, length included", "[unit]") {
  for (const std::string bias : {kKerpleFormula, "-p*distance/length + a", "p*i - a*j"}) {
    const auto encoding = formula(bias, kKerpleLike);
    const AttentionPass whole = formula_pass(8, 8), step = formula_pass(1, 8);
    INFO(bias);
    CHECK(same_bytes(dense_bias(*encoding->scores(step), step).contiguous(),
                     dense_bias(*encoding->scores(whole), whole).slice(2, 7).contiguous()));
    for (int64_t row = 0; row < 8; ++row) {
      const AttentionPass before = formula_pass(1, row + 1);
      CHECK(same_bytes(
          dense_bias(*encoding->scores(before), before).contiguous(),
          dense_bias(*encoding->scores(whole), whole).slice(2, row, row + 1).slice(3, 0, row + 1).contiguous()));
    }
  }
}

TEST_CASE("expression: in a two-sided stack length is the row's own, padding and other documents left out", "[unit]") {
  const auto encoding = formula("length", {}, false);
  const Tensor keys = at::tensor({1, 1, 0, 1, 1, 1}, at::kLong).to(at::kBool).view({2, 3});
  const Positions padded = from_padding(keys);
  AttentionPass pass{.q = padded, .k = padded, .mask = {.keys = keys}};
  const Tensor of_padded = dense_bias(*encoding->scores(pass), pass);
  CHECK(of_padded[0][0][0][0].item<double>() == 2.0);
  CHECK(of_padded[1][0][0][0].item<double>() == 3.0);
  const Tensor segments = at::tensor({0, 0, 1, 1, 1}, at::kLong).view({1, 5});
  const Positions packed = from_segments(segments);
  pass = {.q = packed, .k = packed, .mask = {.q_segment = segments, .k_segment = segments}};
  const Tensor of_packed = dense_bias(*encoding->scores(pass), pass)[0][0];
  CHECK(of_packed[1][1].item<double>() == 2.0);
  CHECK(of_packed[2][2].item<double>() == 3.0);
}

TEST_CASE("expression: keys behind the query of a causal stack count as at its place, in a prefix as they are",
          "[unit]") {
  const auto encoding = formula("log(1 + distance)");
  AttentionPass pass = formula_pass(3, 3);
  CHECK(dense_bias(*encoding->scores(pass), pass)[0][0][0][2].item<double>() == 0.0);
  pass.mask.prefix = 2;
  CHECK_THROWS_WITH(encoding->scores(pass), Catch::Contains("i = 0, j = 1"));
  CHECK_NOTHROW(formula("log(1 + abs(distance))")->scores(pass));
}

TEST_CASE("expression: parameters of its own a layer are read and learned by that layer", "[unit]") {
  const auto encoding = formula(kKerpleFormula, kKerpleLike, true, /*shared=*/false);
  CHECK(encoding->named_parameters()["p"].sizes() == at::IntArrayRef({2, 4}));
  AttentionPass pass = formula_pass(4, 4);
  pass.layer = 1;
  dense_bias(*encoding->scores(pass), pass).sum().backward();
  for (const char* name : {"p", "a"}) {
    const Tensor gradient = encoding->named_parameters()[name].grad();
    CHECK(gradient[0].abs().max().item<double>() == 0.0);
    CHECK(gradient[1].abs().min().item<double>() > 0.0);
  }
}

TEST_CASE("expression: calls in fp64 are computed in fp64", "[unit]") {
  const auto encoding = formula("-2^(-(h + 1)/3)*distance");
  AttentionPass pass = formula_pass(1, 2);
  pass.x = at::zeros({1, 1, 32}, at::kDouble);
  CHECK(dense_bias(*encoding->scores(pass), pass)[0][0][0][0].item<double>() == -std::pow(2.0, -1.0 / 3.0));
}

TEST_CASE("expression: a bias that is not finite is refused with its place", "[unit]") {
  CHECK_THAT(formula_refused("log(distance)"), Catch::Contains("-inf at i = 0, j = 0"));
  CHECK_THAT(formula_refused("1/(distance - 5)"), Catch::Contains("inf at i = 5, j = 0"));
  CHECK_THAT(formula_refused("log(j - i + 4)"), Catch::Contains("-inf at i = 4, j = 0"));
  CHECK_THAT(formula_refused("1/(i - 7)"), Catch::Contains("inf at i = 7, j = 0"));
  CHECK(formula_refused("log(1 + distance)").empty());
  CHECK_THAT(formula_refused("log(1 + distance)", {}, /*causal=*/false), Catch::Contains("-inf at i = 0, j = 1"));
  CHECK_THAT(formula_refused("1/(h - 2)"), Catch::Contains("(head 2)"));
}

TEST_CASE("expression: a gradient that is not finite is refused with its place", "[unit]") {
  const Parameters a{{.name = "a", .init = {1.0}}};
  CHECK_THAT(formula_refused("sqrt(a*abs(distance - 3))", a),
             Catch::Contains("gradient of a is not finite at i = 3, j = 0"));
  CHECK(formula_refused("a*sqrt(abs(distance))", a).empty());
  CHECK(formula_refused("abs(distance)^a", a).empty());
}

TEST_CASE("expression: rows that a table does not have are refused with their place", "[unit]") {
  CHECK_THAT(formula_refused("t[distance]", kClippedTable), Catch::Contains("at i = 4, j = 0, asks for row 4 of t"));
  CHECK_THAT(formula_refused("t[min(distance, 3)/2]", kClippedTable), Catch::Contains("row 0.5 of t; rows are whole"));
  CHECK_THAT(formula_refused("t[min(distance, 3)]", kClippedTable, false), Catch::Contains("asks for row -1"));
  CHECK(formula_refused("t[floor(min(distance, 6)/2)]", kClippedTable).empty());
}

TEST_CASE("expression: a table as long as the model serves no longer rows, a clipped one serves all", "[unit]") {
  const auto bounded = formula("t[distance]", {{.name = "t", .size = 20, .init = {1.0}}});  // max_length is 16
  CHECK_FALSE(bounded->traits().unbounded);
  CHECK_FALSE(bounded->refuses_length(20).has_value());
  CHECK_THAT(bounded->refuses_length(21).value(), Catch::Contains("row 20 of t, whose rows are 0 to 19"));
  const AttentionPass far = formula_pass(1, 30);
  CHECK_THROWS_AS(dense_bias(*bounded->scores(far), far), ConfigError);
  const auto clipped = formula(kTableFormula, kClippedTable);
  CHECK(clipped->traits().unbounded);
  CHECK_FALSE(clipped->refuses_length(1 << 20).has_value());
}

TEST_CASE("expression: parameters that do not fit are refused in words", "[unit]") {
  CHECK_THAT(formula_refused("a", {{.name = "a"}, {.name = "a"}}), Catch::Contains("two parameters 'a'"));
  CHECK_THAT(formula_refused("a", {{.name = "a"}, {.name = "b"}}), Catch::Contains("does not use the parameter 'b'"));
  CHECK_THAT(formula_refused("a", {{.name = "a", .init = {1, 2}}}), Catch::Contains("one a head (4)"));
  CHECK_THAT(formula_refused("t[0]", {{.name = "t", .size = 3, .init = {1, 2}}}), Catch::Contains("one a row (3)"));
  CHECK_THAT(formula_refused("a +"), Catch::Contains("bias, character 1: unknown name 'a'"));
}

TEST_CASE("expression: real-valued positions are refused in words", "[unit]") {
  AttentionPass pass = formula_pass(3, 3);
  pass.k.coords = at::zeros({1, 3, 1});
  CHECK_THROWS_WITH(formula("i + j")->scores(pass), Catch::Contains("time_decay"));
}

TEST_CASE("expression: the config is written and read again", "[unit]") {
  Expression::Config written{.parameters = kKerpleLike, .shared = false, .bias = kKerpleFormula}, read;
  written.parameters[0].size = 2;
  written.bias = "p[0] + a";
  load_config_text(dump_yaml(walk_of(written)), walk_of(read), {});
  CHECK(dump_yaml(walk_of(read)) == dump_yaml(walk_of(written)));
}

}  // namespace ordo::test
