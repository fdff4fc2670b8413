// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/path.h"

#include "support/catch.h"

#include <ATen/ops/matmul.h>

#include "positions/bias_checks.h"

namespace ordo::test {

namespace {

constexpr int64_t kPathHeads = 4, kPathGroups = 2, kPathWidth = 8;

std::shared_ptr<Path> path_of(const Path::Config& config = {}, const PositionFacts& facts = small_facts()) {
  auto made = std::make_shared<Path>(config, facts);
  initialise(*made, 7, {.std = 0.5}, facts.layers);
  return made;
}

// Numbers of a call: kept as keep() gives them.
struct PathCase {
  explicit PathCase(int64_t L, int64_t B = 2)
      : kept(path_of()->keep(noise({B, L, 32}, 4), consecutive(0, L, at::kCPU), 0).detach().to(at::kDouble)),
        q(noise({B, kPathHeads, L, kPathWidth}, 1, at::kDouble)),
        k(noise({B, kPathHeads, L, kPathWidth}, 2, at::kDouble)) {}
  AttentionPass pass(int64_t rows) const {
    AttentionPass p = last_rows(rows, k.size(2));
    p.kept = kept;
    p.scale = 0.35;
    p.mask.offset = k.size(2) - rows;
    return p;
  }
  Tensor kept, q, k;
};

// The scores by their definition: one factor after the other. `same(i, t)`: whether row i passes the factor of t.
template <class Passes>
Tensor path_by_factors(const PathCase& c, double scale, const Passes& passes) {
  const int64_t L = c.k.size(2);
  Tensor scores = at::zeros({c.q.size(0), kPathHeads, L, L}, at::kDouble);
  for (int64_t b = 0; b < c.q.size(0); ++b)
    for (int64_t h = 0; h < kPathHeads; ++h) {
      const int64_t g = h / (kPathHeads / kPathGroups);
      for (int64_t i = 0; i < L; ++i) {
        Tensor turned = c.q[b][h][i];
        for (int64_t j = i; j >= 0; --j) {
          scores[b][h][i][j] = (turned * c.k[b][h][j]).sum() * scale;
          if (!passes(i, j)) continue;
          const Tensor w = c.kept[b][j].slice(0, g * kPathWidth, (g + 1) * kPathWidth);
          turned = turned - w * (w * turned).sum() * c.kept[b][j][kPathGroups * kPathWidth + g];
        }
      }
    }
  return scores;
}

Tensor path_whole(Path& encoding, const PathCase& c, const AttentionPass& pass) {
  const int64_t L = c.k.size(2);
  const Tensor bias = encoding.scores(pass)->tile({0, L, 0, L}, c.q, c.k);
  return seen_of(bias + at::matmul(c.q, c.k.transpose(2, 3)) * pass.scale);
}

constexpr Tolerance kPathSums{1e-9, 1e-9};

}  // namespace

TEST_CASE("path: two tokens by hand", "[unit]") {
  Path encoding({}, {.dim = 2, .heads = 1, .kv_heads = 1, .head_dim = 2, .layers = 1});
  AttentionPass pass = last_rows(2, 2);
  pass.scale = 0.5;
  pass.kept = at::tensor({1.0, 0.0, 2.0, 0.6, 0.8, 1.5}).to(at::kFloat).view({1, 2, 3});  // w, then b
  const Tensor q = at::tensor({1.0, 2.0, 5.0, 10.0}).to(at::kFloat).view({1, 1, 2, 2}),
               k = at::tensor({3.0, 4.0, 7.0, 9.0}).to(at::kFloat).view({1, 1, 2, 2});
  const Tensor found =
      seen_of(encoding.scores(pass)->tile({0, 2, 0, 2}, q, k) + 0.5 * at::matmul(q, k.transpose(2, 3)));
  // q_1 - 1.5 (0.6 5 + 0.8 10) (0.6, 0.8) = (-4.9, -3.2); times k_0: -14.7 - 12.8
  CHECK(close(found.flatten(), at::tensor({5.5, 0.0, -13.75, 62.5}).to(at::kFloat), Tolerance::fp32));
}

TEST_CASE("path: blocks of columns give the product of the factors between key and query", "[unit]") {
  const at::NoGradGuard plain;
  for (const int64_t L : {5, 64, 71, 140}) {
    INFO(L);
    const PathCase c(L, 1);
    const auto encoding = path_of();
    CHECK(close(path_whole(*encoding, c, c.pass(L)), path_by_factors(c, 0.35, [](int64_t, int64_t) { return true; }),
                kPathSums));
  }
}

TEST_CASE("path: any tile is the piece of the whole", "[unit]") {
  const at::NoGradGuard plain;
  const PathCase c(150);
  const auto bias = path_of()->scores(c.pass(150));
  const Tensor whole = bias->tile({0, 150, 0, 150}, c.q, c.k);
  for (const Tile& t : {Tile{70, 75, 0, 75}, Tile{140, 150, 3, 66}, Tile{64, 65, 60, 65}, Tile{149, 150, 64, 128},
                        Tile{0, 1, 0, 1}, Tile{100, 103, 20, 21}}) {
    INFO(t.q0 << " " << t.q1 << " " << t.k0 << " " << t.k1);
    const Tensor piece = bias->tile(t, c.q.slice(2, t.q0, t.q1), c.k.slice(2, t.k0, t.k1));
    REQUIRE(piece.size(3) == t.columns());
    const int64_t diagonal = t.q0 - t.k0;
    CHECK(close(piece.tril(diagonal), whole.slice(2, t.q0, t.q1).slice(3, t.k0, t.k1).tril(diagonal), kPathSums));
  }
  CHECK(bias->tile({0, 2, 100, 130}, c.q.slice(2, 0, 2), c.k.slice(2, 100, 130)).sizes() ==
        at::IntArrayRef({2, kPathHeads, 2, 30}));
}

TEST_CASE("path: factors of padding and of other documents are the identity", "[unit]") {
  const at::NoGradGuard plain;
  const PathCase c(12, 1);
  const auto encoding = path_of();
  const std::vector<int64_t> document{1, 1, 2, 2, 1, 1, 1, 2, 2, 1, 2, 1};  // interleaved
  AttentionPass packed = c.pass(12);
  packed.mask.q_segment = packed.mask.k_segment = at::tensor(document, at::kLong).unsqueeze(0);
  const Tensor same = packed.mask.tile({0, 12, 0, 12}, at::kCPU);
  const Tensor expected = path_by_factors(c, 0.35, [&](int64_t i, int64_t t) {
    return document[static_cast<size_t>(i)] == document[static_cast<size_t>(t)];
  });
  CHECK(close(path_whole(*encoding, c, packed) * same, expected * same, kPathSums));
  AttentionPass padded = c.pass(12);
  padded.mask.keys = at::tensor(document, at::kLong).eq(2).unsqueeze(0);
  const Tensor by_real =
      path_by_factors(c, 0.35, [&](int64_t, int64_t t) { return document[static_cast<size_t>(t)] == 2; });
  CHECK(close(path_whole(*encoding, c, padded), by_real, kPathSums));
}

TEST_CASE("path: directions have length one, strengths lie in (0, 2), one set for each group", "[unit]") {
  const at::NoGradGuard plain;
  for (const int64_t rank : {0, 5}) {
    const auto encoding = path_of({.rank = rank});
    const Tensor kept = encoding->keep(noise({2, 7, 32}, 9), consecutive(0, 7, at::kCPU), 1);
    REQUIRE(kept.size(2) == encoding->keeps());
    const Tensor w = kept.slice(2, 0, kPathGroups * kPathWidth).unflatten(2, {kPathGroups, kPathWidth});
    CHECK(close(w.square().sum(3), at::ones({2, 7, kPathGroups}), Tolerance::fp32));
    const Tensor b = kept.slice(2, kPathGroups * kPathWidth);
    CHECK(b.size(2) == kPathGroups);
    CHECK(b.min().item<double>() > 0.0);
    CHECK(b.max().item<double>() < 2.0);
  }
}

TEST_CASE("path: gradients reach every parameter, queries and keys", "[unit]") {
  const auto encoding = path_of({.rank = 4});
  const Tensor q = noise({2, kPathHeads, 70, kPathWidth}, 1).requires_grad_(true),
               k = noise({2, kPathHeads, 70, kPathWidth}, 2).requires_grad_(true);
  AttentionPass pass = last_rows(70, 70);
  pass.kept = encoding->keep(noise({2, 70, 32}, 4), pass.q, 0);
  (seen_of(encoding->scores(pass)->tile({0, 70, 0, 70}, q, k)) * noise({70, 70}, 5)).sum().backward();
  for (const auto& p : encoding->named_parameters()) {
    INFO(p.key());
    CHECK(p.value().grad().abs().max().item<double>() > 0.0);
  }
  CHECK(q.grad().isfinite().all().item<bool>());
  CHECK(k.grad().abs().max().item<double>() > 0.0);
}

TEST_CASE("path: stacks and masks that have no path are refused in words", "[unit]") {
  PositionFacts both = small_facts();
  both.causal = false;
  CHECK_THROWS_WITH(path_of({}, both), Catch::Contains("path: it multiplies what lies between"));
  AttentionPass pass = PathCase(4).pass(4);
  pass.mask.prefix = 2;
  CHECK_THROWS_WITH(path_of()->scores(pass), Catch::Contains("keys of a prefix"));
}

}  // namespace ordo::test
