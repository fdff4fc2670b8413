// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>

#include "ordo/positions/chain.h"
#include "support/positions.h"
#include "support/small_encodings.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

std::shared_ptr<PositionEncoding> chained(const std::vector<std::string>& kinds) {
  std::vector<std::shared_ptr<PositionEncoding>> parts;
  for (const auto& kind : kinds) parts.push_back(any_encoding(kind, small_facts()));
  return std::make_shared<Chain>(std::move(parts));
}

AttentionPass whole_pass(int64_t length) {
  const Positions at = consecutive(0, length, at::kCPU);
  return {.q = at, .k = at, .mask = {.causal = true}};
}

}  // namespace

TEST_CASE("chain: biases of its parts are added, in every form that all of them have", "[unit]") {
  const AttentionPass pass = whole_pass(5);
  const auto alibi = any_encoding("alibi", small_facts())->scores(pass),
             table = any_encoding("offset_table", small_facts())->scores(pass);
  const auto both = chained({"alibi", "offset_table"})->scores(pass);
  CHECK(close(dense_bias(*both, pass), dense_bias(*alibi, pass) + dense_bias(*table, pass), Tolerance::fp32));
  CHECK(close(both->by_offset().value(), alibi->by_offset().value() + table->by_offset().value(), Tolerance::fp32));
  CHECK_FALSE(both->by_key().has_value());  // the table depends on the query too
  CHECK(both->inputs().size() == 1);
}

TEST_CASE("chain: a bias of the offset joins the tables of one that reads content, and alone needs none", "[unit]") {
  const AttentionPass pass = whole_pass(5);
  const auto alibi = any_encoding("alibi", small_facts())->scores(pass),
             content = any_encoding("content_table", small_facts())->scores(pass);
  const auto form = chained({"alibi", "content_table"})->scores(pass)->by_content().value();
  CHECK(close(form.queries, content->by_content()->queries, Tolerance::fp32));
  CHECK(close(form.offsets, alibi->by_offset().value(), Tolerance::fp32));
  CHECK_FALSE(chained({"alibi", "offset_table"})->scores(pass)->by_content().has_value());
}

TEST_CASE("chain: a part that adds nothing to scores leaves the other's bias as it is", "[unit]") {
  const AttentionPass pass = whole_pass(4);
  CHECK(chained({"rope", "alibi"})->scores(pass)->by_key().has_value());
  CHECK(chained({"rope", "none"})->scores(pass) == nullptr);
}

TEST_CASE("chain: inputs and turns happen one after another", "[unit]") {
  const Positions at = consecutive(2, 3, at::kCPU);
  const auto both = chained({"sinusoidal", "rope", "rope"});
  const Tensor x = noise({1, 3, 32}, 1), q = noise({1, 4, 3, 8}, 2);
  const auto rope = any_encoding("rope", small_facts());
  CHECK(same_bytes(both->input(x, at), any_encoding("sinusoidal", small_facts())->input(x, at)));
  CHECK(same_bytes(both->query(q, at, 0), rope->query(rope->query(q, at, 0), at, 0)));
}

TEST_CASE("chain: each part is given back what it kept", "[unit]") {
  const auto alibi = any_encoding("alibi", small_facts()), first = any_encoding("key_gate", small_facts()),
             second = any_encoding("key_gate", small_facts());
  for (const Tensor& p : second->parameters()) p.detach().neg_();
  const Tensor x = noise({2, 4, 32}, 3);
  const auto bias_of = [&](PositionEncoding& encoding) {
    AttentionPass pass = whole_pass(4);
    pass.kept = encoding.keep(x, pass.q, 1);
    return dense_bias(*encoding.scores(pass), pass);
  };
  Chain all({alibi, first, second});
  CHECK(all.keep(x, consecutive(0, 4, at::kCPU), 1).size(2) == 8);
  CHECK(close(bias_of(all), bias_of(*alibi) + bias_of(*first) + bias_of(*second), Tolerance::fp32));
}

TEST_CASE("chain: it acts wherever a part acts, and is relative only if all parts are", "[unit]") {
  CHECK(chained({"rope", "content_table"})->traits().places.text() == "query and key, scores, values");
  CHECK(chained({"rope", "alibi"})->traits().relative);
  CHECK_FALSE(chained({"rope", "learned"})->traits().relative);
  CHECK_FALSE(chained({"rope", "learned"})->traits().unbounded);
}

TEST_CASE("chain: two turns, or a turn beside what reads the turned query, are not relative together", "[unit]") {
  CHECK(chained({"rope", "kerple"})->traits().relative);
  CHECK(chained({"content_table", "alibi"})->traits().relative);
  CHECK_FALSE(chained({"rope", "content_table"})->traits().relative);
  CHECK_FALSE(chained({"rope", "liere"})->traits().relative);
}

TEST_CASE("chain: the first part that cannot serve a length says why", "[unit]") {
  CHECK_THAT(chained({"rope", "learned"})->refuses_length(17).value_or(""), Catch::Contains("17 tokens"));
  CHECK_FALSE(chained({"rope", "alibi"})->refuses_length(17));
}

TEST_CASE("chain: parameters of its parts are named by their place in the list", "[unit]") {
  CHECK(chained({"rope", "learned"})->named_parameters().contains("1.weight"));
}

TEST_CASE("chain: a part acts in its own layers alone", "[unit]") {
  const auto rope = any_encoding("rope", small_facts()), alibi = any_encoding("alibi", small_facts());
  rope->act_in({1, 0});
  alibi->act_in({0, 1});
  Chain both({rope, alibi});
  const Positions at = consecutive(2, 3, at::kCPU);
  const Tensor q = noise({1, 4, 3, 8}, 2);
  CHECK(same_bytes(both.query(q, at, 0), rope->query(q, at, 0)));
  CHECK(same_bytes(both.query(q, at, 1), q));
  AttentionPass pass = whole_pass(3);
  CHECK(both.scores(pass) == nullptr);
  pass.layer = 1;
  CHECK(both.scores(pass) != nullptr);
}

TEST_CASE("chain: a part that is off in a layer keeps nothing there", "[unit]") {
  const auto first = any_encoding("key_gate", small_facts()), second = any_encoding("key_gate", small_facts());
  first->act_in({0, 1});
  Chain both({first, second});
  AttentionPass pass = whole_pass(4);
  pass.kept = both.keep(noise({2, 4, 32}, 3), pass.q, 0);
  CHECK(pass.kept.size(2) == second->keeps());
  const Tensor chained_bias = dense_bias(*both.scores(pass), pass);
  CHECK(same_bytes(chained_bias, dense_bias(*second->scores(pass), pass)));
}

}  // namespace ordo::test
