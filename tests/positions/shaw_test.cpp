// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/shaw.h"

#include "support/catch.h"

#include "positions/content_checks.h"

namespace ordo::test {

namespace {

std::shared_ptr<Shaw> shaw_of(const Shaw::Config& config, const PositionFacts& facts = small_facts()) {
  auto made = std::make_shared<Shaw>(config, facts);
  initialise(*made, 7, InitConfig{}, facts.layers);
  return made;
}

// One head of one channel, whose rows are the numbers 1, 2, …
std::shared_ptr<Shaw> shaw_of_numbers(const Shaw::Config& config) {
  auto made = shaw_of(config, {.dim = 1, .heads = 1, .kv_heads = 1, .head_dim = 1, .layers = 1, .max_length = 3});
  for (const auto& p : made->named_parameters()) set_parameter(*made, p.key(), at::arange(p.value().numel()) + 1.0);
  return made;
}

Tensor shaw_bias(Shaw& encoding, const std::vector<double>& q, const std::vector<double>& k) {
  AttentionPass pass = last_rows(static_cast<int64_t>(q.size()), static_cast<int64_t>(k.size()), false);
  pass.scale = 0.5;
  const auto column = [](const std::vector<double>& x) { return at::tensor(x).to(at::kFloat).view({1, 1, -1, 1}); };
  return encoding.scores(pass)->tile({0, pass.q.length(), 0, pass.k.length()}, column(q), column(k)).squeeze();
}

}  // namespace

TEST_CASE("shaw: rows of the offsets clipped to the window, times the query and the scale", "[unit]") {
  const auto encoding = shaw_of_numbers({.max_relative_positions = 1});  // rows 1, 2, 3 for offsets -1, 0, 1
  const Tensor found = shaw_bias(*encoding, {10, 20, 30}, {0, 0, 0});
  CHECK(close(found, at::tensor({10.0, 15.0, 15.0, 10.0, 20.0, 30.0, 15.0, 15.0, 30.0}).to(at::kFloat).view({3, 3}),
              Tolerance::fp32));
}

TEST_CASE("shaw: with beyond_window zero, farther keys gain nothing", "[unit]") {
  const auto encoding = shaw_of_numbers({.left = 1, .right = 0, .beyond_window = Shaw::Beyond::zero});
  const Tensor found = shaw_bias(*encoding, {10, 20, 30}, {0, 0, 0});  // rows 1, 2 for offsets -1, 0
  CHECK(close(found, at::tensor({10.0, 0.0, 0.0, 10.0, 20.0, 0.0, 0.0, 15.0, 30.0}).to(at::kFloat).view({3, 3}),
              Tolerance::fp32));
}

TEST_CASE("shaw: BERT's rows count query - key, and the second form reads keys too", "[unit]") {
  const auto one = shaw_of_numbers({.variant = Shaw::Variant::relative_key});  // rows 1 … 5 for i - j = -2 … 2
  CHECK(close(shaw_bias(*one, {2, 4}, {1, 1}), at::tensor({3.0, 2.0, 8.0, 6.0}).to(at::kFloat).view({2, 2}),
              Tolerance::fp32));
  const auto both = shaw_of_numbers({.variant = Shaw::Variant::relative_key_query});
  CHECK(close(shaw_bias(*both, {2, 4}, {10, 20}),
              at::tensor({3.0 + 15.0, 2.0 + 20.0, 8.0 + 20.0, 6.0 + 30.0}).to(at::kFloat).view({2, 2}),
              Tolerance::fp32));
}

TEST_CASE("shaw: weights of equal rows are summed before they meet the value table", "[unit]") {
  const auto encoding = shaw_of_numbers({.max_relative_positions = 1});
  const AttentionPass pass = last_rows(1, 4, true);  // offsets -3 … 0: rows 1, 1, 1, 2
  const auto term = encoding->values(pass);
  const Tensor weights = at::tensor({0.1, 0.2, 0.3, 0.4}).to(at::kFloat).view({1, 1, 1, 4});
  CHECK(close(term->tile({0, 1, 0, 4}, weights).flatten(), at::tensor({1.4}).to(at::kFloat), Tolerance::fp32));
  CHECK(close(term->by_offset().value().flatten(), at::tensor({1.0, 1.0, 1.0, 2.0}).to(at::kFloat), Tolerance::fp32));
}

TEST_CASE("shaw: tiles at any positions are the form over offsets", "[unit]") {
  for (const Shaw::Config& config : {Shaw::Config{.max_relative_positions = 3}, Shaw::Config{.left = 2, .right = 1},
                                     Shaw::Config{.max_relative_positions = 2, .beyond_window = Shaw::Beyond::zero},
                                     Shaw::Config{.variant = Shaw::Variant::relative_key, .use_value = true},
                                     Shaw::Config{.variant = Shaw::Variant::relative_key_query}}) {
    PositionFacts facts = small_facts();
    facts.causal = false;
    const auto encoding = shaw_of(config, facts);
    check_content_tiles(*encoding, 4, true);
    check_content_tiles(*encoding, 4, false);
    check_content_gaps(*encoding, 4, false);
  }
}

TEST_CASE("shaw: gradients reach the tables alike through both forms", "[unit]") {
  for (const Shaw::Variant variant : {Shaw::Variant::clipped, Shaw::Variant::relative_key_query})
    check_content_gradients(*shaw_of({.variant = variant, .use_value = false}), 4, true);
  const auto encoding = shaw_of({});
  const auto term = encoding->values(last_rows(6, 9, true));
  const Tensor weights = noise({2, 4, 6, 9}, 31);
  term->tile({0, 6, 0, 9}, weights).sum().backward();
  const Tensor by_tile = encoding->named_parameters()["values"].grad().clone();
  encoding->zero_grad();
  at::einsum("bhij,hije->bhie", {weights, spread_rows(term->by_offset().value(), 6, 9).expand({4, 6, 9, 8})})
      .sum()
      .backward();
  CHECK(by_tile.abs().max().item<double>() > 0.0);
  CHECK(close_gradient(encoding->named_parameters()["values"].grad(), by_tile, 1e-4));
}

TEST_CASE("shaw: one shared table serves keys and values", "[unit]") {
  const auto encoding = shaw_of({.max_relative_positions = 2, .share_kv_table = true});
  CHECK(encoding->named_parameters().size() == 1);
  const auto term = encoding->values(last_rows(3, 3, true));
  CHECK(term->inputs()[0].data_ptr() == encoding->named_parameters()["keys"].data_ptr());
}

TEST_CASE("shaw: BERT's forms refuse sequences past their rows in words", "[unit]") {
  const auto encoding = shaw_of({.variant = Shaw::Variant::relative_key});
  CHECK_FALSE(encoding->traits().unbounded);
  CHECK(encoding->refuses_length(17).value().find("17 tokens") != std::string::npos);
  CHECK_FALSE(encoding->refuses_length(16));
  CHECK_THROWS_WITH(encoding->scores(last_rows(1, 17)), Catch::Contains("17 tokens"));
  CHECK_NOTHROW(encoding->scores(last_rows(1, 16, true, 100)));  // only distances count
}

TEST_CASE("shaw: settings that contradict each other are refused in words", "[unit]") {
  CHECK_THROWS_WITH(shaw_of({.variant = Shaw::Variant::relative_key, .left = 2}), Catch::Contains("variant: clipped"));
  CHECK_THROWS_WITH(shaw_of({.max_relative_positions = 4, .left = 2, .right = 2}), Catch::Contains("left (2)"));
  CHECK_THROWS_WITH(shaw_of({.variant = Shaw::Variant::relative_key, .max_relative_positions = 9}),
                    Catch::Contains("max_length (16)"));
  CHECK_THROWS_WITH(shaw_of({.use_value = false, .share_kv_table = true}), Catch::Contains("use_value is false"));
}

}  // namespace ordo::test
