// SPDX-License-Identifier: Apache-2.0
// Claims that hold for every bias of content and offset, whatever its tables.
#pragma once
#include <ATen/ops/einsum.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros_like.h>

#include "positions/bias_checks.h"
#include "support/catch.h"

namespace ordo::test {

// Queries and keys of one call: two rows of the batch, heads of eight channels.
struct Content {
  Content(int64_t heads, int64_t rows, int64_t columns)
      : q(noise({2, heads, rows, 8}, 21).requires_grad_(true)),
        k(noise({2, heads, columns, 8}, 22).requires_grad_(true)) {}
  Tensor q, k;
};

// table [1|H, Lq+Lk-1, ...] laid out for all pairs: [1|H, Lq, Lk, ...].
inline Tensor spread_rows(const Tensor& table, int64_t rows, int64_t columns) {
  std::vector<Tensor> all;
  for (int64_t i = 0; i < rows; ++i) all.push_back(table.slice(1, rows - 1 - i, rows - 1 - i + columns).unsqueeze(1));
  return at::cat(all, 1);
}

// The bias [B, H, Lq, Lk] that a ContentForm stands for, by its definition.
inline Tensor spread_form(const ContentForm& form, const Content& c, double scale) {
  const int64_t H = c.q.size(1), rows = c.q.size(2), columns = c.k.size(2);
  const auto vectors = [&](const Tensor& table) {
    return spread_rows(table, rows, columns).expand({H, rows, columns, table.size(2)});
  };
  Tensor sum = at::zeros({2, H, rows, columns}, c.q.options().requires_grad(false));
  if (form.queries.defined()) sum = sum + at::einsum("bhie,hije->bhij", {c.q, vectors(form.queries)}) * scale;
  if (form.keys.defined()) sum = sum + at::einsum("bhje,hije->bhij", {c.k, vectors(form.keys)}) * scale;
  if (form.offsets.defined()) sum = sum + spread_rows(form.offsets, rows, columns).unsqueeze(0);
  return sum;
}

inline AttentionPass listed(AttentionPass pass) {
  pass.q.start.reset();
  pass.k.start.reset();
  return pass;
}

// Tiles of consecutive and of listed positions are the pieces of the form over offsets.
inline void check_content_tiles(PositionEncoding& encoding, int64_t heads, bool causal) {
  const at::NoGradGuard plain;
  AttentionPass pass = last_rows(10, 13, causal, 4);
  pass.mask.offset = 3;
  pass.scale = 0.35;
  const Content c(heads, 10, 13);
  const auto bias = encoding.scores(pass), other = encoding.scores(listed(pass));
  const auto form = bias->by_content();
  REQUIRE(form.has_value());
  REQUIRE_FALSE(other->by_content().has_value());
  const Tensor whole = spread_form(*form, c, pass.scale), seen = causal ? seen_of(whole) : whole;
  for (const auto& one : {bias, other}) {
    const Tensor tile = one->tile({0, 10, 0, 13}, c.q, c.k);
    CHECK(close(causal ? seen_of(tile) : tile, seen, Tolerance::fp32_sum));
    const Tensor piece = one->tile({2, 5, 1, 4}, c.q.slice(2, 2, 5), c.k.slice(2, 1, 4));
    CHECK(close(piece, whole.slice(2, 2, 5).slice(3, 1, 4), Tolerance::fp32_sum));  // all of them past keys
  }
}

// The bias at positions with gaps, other ones in each row of the batch, is picked from that of a run of positions.
inline void check_content_gaps(PositionEncoding& encoding, int64_t heads, bool causal) {
  const at::NoGradGuard plain;
  const Tensor q = at::tensor({3, 7, 12, 5, 0, 9}, at::kLong).view({2, 3}),
               k = at::tensor({0, 2, 3, 5, 0, 1, 5, 0}, at::kLong).view({2, 4});
  const Content c(heads, 3, 4);
  AttentionPass gapped = call_at({.index = q}, {.index = k}, causal), whole = last_rows(13, 13, false);
  const Tensor found = encoding.scores(gapped)->tile({0, 3, 0, 4}, c.q, c.k);
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 4; ++j) {
        const auto row = q[b][i].item<int64_t>(), column = k[b][j].item<int64_t>();
        const Tensor one = encoding.scores(whole)->tile({row, row + 1, column, column + 1}, c.q.slice(2, i, i + 1),
                                                        c.k.slice(2, j, j + 1));
        CHECK(close(found[b].select(1, i).select(1, j), one[b].select(1, 0).select(1, 0), Tolerance::fp32_sum));
      }
}

// Scores with either form send the same gradients to queries, keys and every parameter; to parameters ones that are not
// zero.
inline void check_content_gradients(PositionEncoding& encoding, int64_t heads, bool causal) {
  AttentionPass pass = last_rows(10, 13, causal);
  pass.mask.offset = 3;
  pass.scale = 0.35;
  const Tensor weight = causal ? seen_of(noise({2, heads, 10, 13}, 3)) : noise({2, heads, 10, 13}, 3);
  const auto gradients = [&](const auto& form) {
    encoding.zero_grad();
    const Content c(heads, 10, 13);
    Content used = c;
    used.q = encoding.query(c.q, pass.q, 0);
    const Tensor products = at::matmul(used.q, used.k.transpose(2, 3)) * pass.scale;
    ((products + form(*encoding.scores(pass), used)) * weight).sum().backward();
    std::vector<Tensor> found;
    for (const Tensor& p : encoding.parameters()) found.push_back(p.grad().clone());
    for (const Tensor& t : {c.q, c.k}) found.push_back(t.grad().defined() ? t.grad() : at::zeros_like(t));
    return found;
  };
  const auto by_tile = gradients([](const ScoreBias& bias, const Content& c) {
    return bias.tile({0, 10, 0, 13}, c.q, c.k);
  });
  const auto by_form = gradients(
      [&](const ScoreBias& bias, const Content& c) { return spread_form(bias.by_content().value(), c, pass.scale); });
  const auto names = encoding.named_parameters().keys();
  for (size_t i = 0; i < by_tile.size(); ++i) {
    INFO((i < names.size() ? names[i] : "queries and keys"));
    if (i < names.size()) CHECK(by_tile[i].abs().max().item<double>() > 0.0);
    CHECK(close_gradient(by_form[i], by_tile[i], 1e-4));
  }
}

}  // namespace ordo::test
