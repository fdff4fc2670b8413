// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/cope.h"

#include "support/catch.h"

#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <limits>

#include "positions/bias_checks.h"

namespace ordo::test {

namespace {

std::shared_ptr<Cope> cope_of(const Cope::Config& config, const PositionFacts& facts = small_facts()) {
  auto made = std::make_shared<Cope>(config, facts);
  initialise(*made, 7, InitConfig{}, facts.layers);
  return made;
}

struct CopeCase {
  Tensor gates = noise({2, 3, 5, 9}, 1).sigmoid().requires_grad_(true);
  Tensor z = noise({2, 3, 5, 4}, 2).requires_grad_(true);
  Mask mask = {.causal = true, .offset = 4};
  Tensor seen() const { return mask.tile({0, 5, 0, 9}, at::kCPU); }
};

}  // namespace

TEST_CASE("cope: gates are summed from the query back, and the table is read between its rows", "[unit]") {
  const Tensor gates = at::tensor({0.5, 0.75, 0.5, 0.25}).view({1, 1, 1, 4});
  const Tensor seen = at::ones({1, 1, 1, 4}, at::kBool);
  const Tensor z = at::tensor({10.0, 20.0, 40.0}).view({1, 1, 1, 3});
  // counts 2.0, 1.5, 0.75, 0.25
  CHECK(close(read_at_counts(gates, seen, z).flatten(), at::tensor({40.0, 30.0, 17.5, 12.5}), Tolerance::fp64));
}

TEST_CASE("cope: gates of hidden keys count nothing, and counts stop at the last row", "[unit]") {
  const Tensor gates = at::ones({1, 1, 1, 6});
  Tensor seen = at::ones({1, 1, 1, 6}, at::kBool);
  seen[0][0][0][3] = false;
  seen[0][0][0][5] = false;
  const Tensor z = at::tensor({10.0, 20.0, 40.0}).to(at::kFloat).view({1, 1, 1, 3});
  CHECK(close(read_at_counts(gates, seen, z).flatten(), at::tensor({40.0, 40.0, 40.0, 20.0, 20.0, 10.0}).to(at::kFloat),
              Tolerance::fp32));
}

TEST_CASE("cope: the loops of the CPU and the operators of other devices agree, gradients too", "[unit]") {
  for (const auto type : {at::kFloat, at::kDouble})
    for (const int64_t places : {1, 2, 4, 30}) {
      INFO(c10::toString(type) << ", " << places);
      const auto run = [&](const auto& read) {
        const CopeCase c;
        const Tensor gates = c.gates.detach().to(type).requires_grad_(true),
                     z = noise({2, 3, 5, places}, 2, type).requires_grad_(true);
        const Tensor out = read(gates, c.seen(), z);
        out.backward(noise(out.sizes(), 3, type) * c.seen());
        return std::array<Tensor, 3>{out.detach(), gates.grad(), z.grad()};
      };
      const auto loops = run(read_at_counts), operators = run(read_at_counts_by_operators);
      CHECK(close(loops[0], operators[0], Tolerance::fp32_sum));
      CHECK(close_gradient(loops[1], operators[1], 1e-5, 1e-3));
      CHECK(close_gradient(loops[2], operators[2], 1e-5));
    }
}

TEST_CASE("cope: a count of NaN gives NaN, from its key to the first, and touches nothing else", "[unit]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto type : {at::kFloat, at::kDouble})
    for (const int64_t places : {2, 4}) {
      INFO(c10::toString(type) << ", " << places);
      const Tensor gates = at::tensor({0.5, 0.5, nan, 0.25, 0.5}, at::kDouble).to(type).view({1, 1, 1, 5}),
                   z = noise({1, 1, 1, places}, 2, type);
      const Tensor g = gates.clone().requires_grad_(true), table = z.clone().requires_grad_(true);
      const Tensor out = read_at_counts(g, at::ones({1, 1, 1, 5}, at::kBool), table);
      const Tensor plain = read_at_counts(gates.nan_to_num(0.0), at::ones({1, 1, 1, 5}, at::kBool), z);
      CHECK(out.detach().flatten().slice(0, 0, 3).isnan().all().item<bool>());
      CHECK(same_bytes(out.detach().slice(3, 3).contiguous(), plain.slice(3, 3).contiguous()));
      out.sum().backward();
      CHECK(table.grad().flatten()[0].isnan().item<bool>());
      if (places > 2) CHECK(same_bytes(table.grad().flatten().slice(0, 2), at::zeros({places - 2}, type)));
    }
}

TEST_CASE("cope: a query of NaN poisons its own row alone, forward and backward", "[unit]") {
  for (const int64_t places : {1, 4}) {
    INFO(places);
    const auto encoding = cope_of({.npos_max = places, .init_std = 0.5});
    Tensor q = noise({1, 4, 3, 8}, 1);
    q.select(2, 1).fill_(std::numeric_limits<float>::quiet_NaN());
    q.requires_grad_(true);
    const Tensor bias = encoding->scores(last_rows(3, 3))->tile({0, 3, 0, 3}, q, noise({1, 4, 3, 8}, 2));
    CHECK(bias.select(2, 1).slice(2, 0, 2).isnan().all().item<bool>());
    CHECK(bias.select(2, 0).isfinite().all().item<bool>());
    CHECK(bias.select(2, 2).isfinite().all().item<bool>());
    bias.sum().backward();
    CHECK(q.grad().select(2, 2).isfinite().all().item<bool>());
    CHECK(q.grad().select(2, 1).isnan().any().item<bool>());
  }
}

TEST_CASE("cope: the two scales differ by the scale of the content", "[unit]") {
  const at::NoGradGuard plain;
  const auto official = cope_of({.npos_max = 4, .init_std = 0.5}),
             listing = cope_of({.npos_max = 4, .scale = Cope::Scale::nodiv, .init_std = 0.5});
  AttentionPass pass = last_rows(5, 5);
  pass.scale = 0.25;
  const Tensor q = noise({2, 4, 5, 8}, 1), k = noise({2, 4, 5, 8}, 2);
  const auto tile = [&](Cope& encoding) { return encoding.scores(pass)->tile({0, 5, 0, 5}, q, k); };
  CHECK(close(tile(*official), tile(*listing) * 0.25, Tolerance::fp32));
}

TEST_CASE("cope: any rows of the bias are those of the whole", "[unit]") {
  const at::NoGradGuard plain;
  const auto encoding = cope_of({.npos_max = 3, .init_std = 0.5});
  AttentionPass pass = last_rows(6, 6);
  const Tensor q = noise({2, 4, 6, 8}, 1), k = noise({2, 4, 6, 8}, 2);
  const auto bias = encoding->scores(pass);
  CHECK(bias->whole_rows());
  const Tensor whole = bias->tile({0, 6, 0, 6}, q, k),
               rows = bias->tile({2, 4, 0, 4}, q.slice(2, 2, 4), k.slice(2, 0, 4));
  CHECK(close(rows, whole.slice(2, 2, 4).slice(3, 0, 4), Tolerance::fp32));
}

TEST_CASE("cope: gates and counts see neither padding nor other documents", "[unit]") {
  const at::NoGradGuard plain;
  const auto encoding = cope_of({.npos_max = 6, .init_std = 0.5});
  const Tensor q = noise({1, 4, 6, 8}, 1), k = noise({1, 4, 6, 8}, 2);
  AttentionPass packed = last_rows(6, 6), alone = last_rows(4, 4);
  packed.mask.q_segment = packed.mask.k_segment = at::tensor({1, 1, 2, 2, 2, 2}, at::kLong).unsqueeze(0);
  AttentionPass padded = last_rows(6, 6);
  padded.mask.keys = at::tensor({0, 0, 1, 1, 1, 1}, at::kLong).to(at::kBool).unsqueeze(0);
  const Tensor expected = seen_of(encoding->scores(alone)->tile({0, 4, 0, 4}, q.slice(2, 2), k.slice(2, 2)));
  for (const AttentionPass& pass : {packed, padded}) {
    const Tensor whole = encoding->scores(pass)->tile({0, 6, 0, 6}, q, k);
    CHECK(close(seen_of(whole.slice(2, 2).slice(3, 2)), expected, Tolerance::fp32));
  }
}

TEST_CASE("cope: gradients reach the table, from zeros too, and queries and keys through the gates", "[unit]") {
  const Tensor q = noise({2, 4, 6, 8}, 1).requires_grad_(true), k = noise({2, 4, 6, 8}, 2).requires_grad_(true);
  for (const double std : {0.0, 0.5}) {
    const auto encoding = cope_of({.npos_max = 4, .init_std = std});
    seen_of(encoding->scores(last_rows(6, 6))->tile({0, 6, 0, 6}, q, k)).sum().backward();
    CHECK(encoding->named_parameters()["weight"].grad().abs().max().item<double>() > 0.0);
  }
  CHECK(k.grad().abs().max().item<double>() > 0.0);
  CHECK(q.grad().abs().max().item<double>() > 0.0);
}

TEST_CASE("cope: a stack that sees both sides is refused in words", "[unit]") {
  PositionFacts both = small_facts();
  both.causal = false;
  CHECK_THROWS_WITH(cope_of({}, both), Catch::Contains("cope: it counts the keys up to the query"));
}

}  // namespace ordo::test
