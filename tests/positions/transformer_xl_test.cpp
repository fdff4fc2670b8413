// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/transformer_xl.h"

#include "support/catch.h"

#include <cmath>

#include "positions/content_checks.h"

namespace ordo::test {

namespace {

std::shared_ptr<TransformerXl> xl_of(const TransformerXl::Config& config, const PositionFacts& facts = small_facts()) {
  auto made = std::make_shared<TransformerXl>(config, facts);
  initialise(*made, 7, InitConfig{}, facts.layers);
  return made;
}

}  // namespace

TEST_CASE("transformer_xl: one head of one channel, by hand", "[unit]") {
  const auto encoding =
      xl_of({}, {.dim = 2, .heads = 1, .kv_heads = 1, .head_dim = 1, .layers = 1, .max_length = 4, .causal = false});
  set_parameter(*encoding, "r_weight", at::tensor({3.0, 5.0}));  // r = 3 sin(distance) + 5 cos(distance)
  set_parameter(*encoding, "u", at::tensor({0.25}));
  set_parameter(*encoding, "v", at::tensor({0.75}));
  AttentionPass pass = last_rows(2, 2, false);
  pass.scale = 0.5;
  const Tensor q = at::tensor({1.0, 2.0}).to(at::kFloat).view({1, 1, 2, 1}),
               k = at::tensor({10.0, 20.0}).to(at::kFloat).view({1, 1, 2, 1});
  const Tensor turned = encoding->query(q, pass.q, 0);
  const Tensor found =
      encoding->scores(pass)->tile({0, 2, 0, 2}, turned, k) + 0.5 * at::matmul(turned, k.transpose(2, 3));
  const auto score = [](double q, double k, double distance) {
    return 0.5 * ((q + 0.25) * k + (q + 0.75) * (3.0 * std::sin(distance) + 5.0 * std::cos(distance)));
  };
  const Tensor expected = at::tensor({score(1, 10, 0), score(1, 20, -1), score(2, 10, 1), score(2, 20, 0)});
  CHECK(close(found.flatten(), expected.to(at::kFloat), Tolerance::fp32));
}

TEST_CASE("transformer_xl: tiles at any positions are the form over offsets", "[unit]") {
  for (const int64_t clamp : {0, 3}) {
    const auto encoding = xl_of({.clamp_length = clamp, .init_std = 0.5});
    check_content_tiles(*encoding, 4, true);
    check_content_tiles(*encoding, 4, false);
    check_content_gaps(*encoding, 4, false);
  }
}

TEST_CASE("transformer_xl: gradients reach projections and both vectors alike through both forms", "[unit]") {
  check_content_gradients(*xl_of({.init_std = 0.5}), 4, true);
  check_content_gradients(*xl_of({.clamp_length = 2, .init_std = 0.5}), 4, false);
}

TEST_CASE("transformer_xl: few queries against many keys get the numbers and gradients of a whole call", "[unit]") {
  const auto encoding = xl_of({.init_std = 0.5});
  const Tensor weight = seen_of(noise({2, 4, 2, 13}, 3));
  const auto run = [&](int64_t rows) {
    encoding->zero_grad();
    const Content c(4, 13, 13);
    AttentionPass pass = last_rows(rows, 13);
    pass.mask.offset = 13 - rows;
    const Tensor q = encoding->query(c.q, pass.q, 0).slice(2, 11);
    const auto bias = encoding->scores(pass);
    REQUIRE(bias->by_content().has_value() == (rows == 13));
    const Tensor found = seen_of(bias->tile({rows - 2, rows, 0, 13}, q, c.k));
    (found * weight).sum().backward();
    std::vector<Tensor> all{found.detach(), c.q.grad()};
    for (const char* name : {"r_weight", "v"}) all.push_back(encoding->named_parameters()[name].grad().clone());
    return all;
  };
  const auto few = run(2), whole = run(13);
  CHECK(close(few[0], whole[0], Tolerance::fp32_sum));
  for (size_t i = 1; i < few.size(); ++i) CHECK(close_gradient(few[i], whole[i], 1e-4));
}

TEST_CASE("transformer_xl: sinusoids of any range are those of the distance, sines first", "[unit]") {
  const auto encoding = xl_of({});
  for (const auto& [low, high] : std::vector<std::pair<int64_t, int64_t>>{{-3, 2}, {-5, -2}, {1, 4}, {0, 0}, {-4, 0}}) {
    const Tensor found = encoding->sinusoids(low, high, at::kDouble, at::kCPU);
    REQUIRE(found.size(0) == high - low + 1);
    for (int64_t offset = low; offset <= high; ++offset)
      for (int64_t m = 0; m < 16; ++m) {
        const double angle = static_cast<double>(-offset) * std::pow(10000.0, -static_cast<double>(m) / 16.0);
        CHECK(found[offset - low][m].item<double>() == Approx(std::sin(angle)).margin(1e-12));
        CHECK(found[offset - low][16 + m].item<double>() == Approx(std::cos(angle)).margin(1e-12));
      }
  }
}

TEST_CASE("transformer_xl: keys beyond clamp_length count as at that distance", "[unit]") {
  const at::NoGradGuard plain;
  const auto encoding = xl_of({.clamp_length = 2, .init_std = 0.5});
  const Content c(4, 1, 6);
  const Tensor same_keys = c.k.slice(2, 0, 1).expand({-1, -1, 6, -1});
  const Tensor found = encoding->scores(last_rows(1, 6))->tile({0, 1, 0, 6}, c.q, same_keys);
  CHECK(same_bytes(found.slice(3, 0, 4).contiguous(), found.slice(3, 3, 4).expand({-1, -1, -1, 4}).contiguous()));
  CHECK_FALSE(close(found.slice(3, 4, 5), found.slice(3, 3, 4), Tolerance::fp32));
}

TEST_CASE("transformer_xl: layers share u and v unless untie_r", "[unit]") {
  CHECK(xl_of({})->named_parameters()["u"].size(0) == 1);
  const auto untied = xl_of({.untie_r = true});
  REQUIRE(untied->named_parameters()["u"].size(0) == 2);
  const Content c(4, 2, 2);
  const Positions at = consecutive(0, 2, at::kCPU);
  CHECK_FALSE(close(untied->query(c.q, at, 0), untied->query(c.q, at, 1), Tolerance::fp32));
}

TEST_CASE("transformer_xl: an odd width and real-valued positions are refused in words", "[unit]") {
  PositionFacts odd = small_facts();
  odd.dim = 31;
  CHECK_THROWS_WITH(xl_of({}, odd), Catch::Contains("even model.dim, found 31"));
  AttentionPass pass = last_rows(3, 3);
  pass.k.coords = at::zeros({1, 3, 1});
  CHECK_THROWS_WITH(xl_of({})->scores(pass), Catch::Contains("real-valued positions"));
}

}  // namespace ordo::test
