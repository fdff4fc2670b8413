// SPDX-License-Identifier: Apache-2.0
// What tests of score biases share: calls at given positions, and claims that hold for every bias of positions alone.
#pragma once
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "ordo/positions/encoding.h"
#include "support/positions.h"
#include "support/tolerance.h"

namespace ordo::test {

inline AttentionPass call_at(const Positions& q, const Positions& k, bool causal = true, int64_t layer = 0) {
  return {.layer = layer, .q = q, .k = k, .mask = {.causal = causal}};
}
// The last `rows` of `columns` positions, counted from `start`, look at all of them.
inline AttentionPass last_rows(int64_t rows, int64_t columns, bool causal = true, int64_t start = 0) {
  return call_at(consecutive(start + columns - rows, rows, at::kCPU), consecutive(start, columns, at::kCPU), causal);
}
inline Positions places(const std::vector<int64_t>& index) {
  return {.index = at::tensor(index, at::kLong).unsqueeze(0)};
}

// A vector by offset laid out as the matrix it stands for: [H, Lq, Lk].
inline Tensor spread(const Tensor& by_offset, int64_t rows, int64_t columns) {
  std::vector<Tensor> all;
  for (int64_t i = 0; i < rows; ++i)
    all.push_back(by_offset.slice(1, rows - 1 - i, rows - 1 - i + columns).unsqueeze(1));
  return at::cat(all, 1);
}
inline Tensor spread_bias(const ScoreBias& bias, const AttentionPass& pass) {
  return spread(bias.by_offset().value(), pass.q.length(), pass.k.length()).unsqueeze(0);
}

// Gives a parameter the values of a tensor with as many numbers.
inline void set_parameter(torch::nn::Module& module, const std::string& name, const Tensor& values) {
  const at::NoGradGuard no_grad;
  Tensor parameter = module.named_parameters()[name];
  REQUIRE(parameter.numel() == values.numel());
  parameter.copy_(values.reshape(parameter.sizes()));
}

// What a causal stack reads of a bias whose queries are the last positions: zeros elsewhere.
inline Tensor seen_of(const Tensor& bias) { return bias.tril(bias.size(-1) - bias.size(-2)); }

// The bias at positions with gaps, in two rows of a batch, is picked from that of a whole run of positions.
inline Closeness gaps_agree(PositionEncoding& encoding, bool causal) {
  const at::NoGradGuard no_grad;
  const Tensor q = at::tensor({3, 7, 12, 5, 0, 9}, at::kLong).view({2, 3}),
               k = at::tensor({0, 12, 5, 7, 1, 11, 2, 6}, at::kLong).view({2, 4});
  const AttentionPass gapped = call_at({.index = q}, {.index = k}, causal), whole = last_rows(13, 13, causal);
  const Tensor all = dense_bias(*encoding.scores(whole), whole)[0];
  const Tensor found = dense_bias(*encoding.scores(gapped), gapped);
  std::vector<Tensor> picked;
  for (int64_t b = 0; b < 2; ++b) picked.push_back(all.index_select(1, q[b]).index_select(2, k[b]).unsqueeze(0));
  return close(found, at::cat(picked, 0), Tolerance::fp32);
}

// Any tile, of listed or of consecutive positions, is the piece of the form by offset.
inline Closeness tiles_agree(PositionEncoding& encoding, bool causal, int64_t start = 0) {
  const at::NoGradGuard no_grad;
  const AttentionPass pass = last_rows(6, 9, causal, start);
  AttentionPass listed = pass;
  listed.q.start.reset();
  listed.k.start.reset();
  const auto bias = encoding.scores(pass), other = encoding.scores(listed);
  REQUIRE_FALSE(other->by_offset().has_value());
  const Tensor all = spread_bias(*bias, pass), piece = all.slice(2, 1, 4).slice(3, 2, 7);
  const Tile tile{1, 4, 2, 7};
  return close(at::cat({bias->tile(tile, {}, {}), other->tile(tile, {}, {})}, 0), at::cat({piece, piece}, 0),
               Tolerance::fp32);
}

// Both forms send the same gradient to every parameter that acts in layer 0, and to each of them one that is not zero.
inline void check_gradients_agree(PositionEncoding& encoding, bool causal) {
  const AttentionPass pass = last_rows(6, 9, causal);
  const Tensor weight = causal ? seen_of(noise({1, 1, 6, 9}, 3)) : noise({1, 1, 6, 9}, 3);
  const auto gradients = [&](const auto& form) {
    encoding.zero_grad();
    const auto bias = encoding.scores(pass);
    (form(*bias) * weight).sum().backward();
    std::vector<Tensor> found;
    for (const Tensor& p : encoding.parameters()) found.push_back(p.grad().clone());
    return found;
  };
  const auto by_tile = gradients([&](const ScoreBias& bias) { return dense_bias(bias, pass); });
  const auto by_offset = gradients([&](const ScoreBias& bias) { return spread_bias(bias, pass); });
  const auto names = encoding.named_parameters().keys();
  for (size_t i = 0; i < names.size(); ++i) {
    INFO(names[i]);
    CHECK(by_tile[i].abs().max().item<double>() > 0.0);
    CHECK(close_gradient(by_offset[i], by_tile[i], 1e-4));
  }
}

}  // namespace ordo::test
