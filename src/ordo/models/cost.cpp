// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/cost.h"

#include <algorithm>

namespace ordo {

namespace {

// Of the first n rows, each of which sees itself and what stands before it, w keys at most.
double keys_of_rows(double n, double w) {
  const double few = std::min(n, w);  // these rows see 1, 2, …
  return few * (few + 1.0) / 2.0 + (n - few) * w;
}

// Keys that a query of a row of this length sees, on average; a window reaches as far ahead where there is no mask.
double visible_keys(int64_t length, bool causal, std::optional<int64_t> window, int64_t before) {
  const double n = static_cast<double>(length), b = static_cast<double>(before);
  const double w = window ? static_cast<double>(*window) : n + b;
  const double back = (keys_of_rows(n + b, w) - keys_of_rows(b, w)) / n;
  return causal ? back : 2.0 * back - 1.0;
}

// Products of one token's attention that sees so many keys: projections, scores, weighted values.
double attention_flops(const BlockConfig& block, double keys) {
  const AttentionConfig& a = block.attention.config;
  const auto D = static_cast<double>(block.dim);
  const auto Q = static_cast<double>(a.heads * a.head_dim), KV = static_cast<double>(a.kv_heads * a.head_dim);
  return 2.0 * (D * Q + 2.0 * D * KV + Q * D + 2.0 * Q * keys);
}

// Keys and values of the tokens before a row, for one of its own tokens.
double keys_before(const BlockConfig& block, int64_t length, int64_t before) {
  const AttentionConfig& a = block.attention.config;
  return 2.0 * static_cast<double>(a.kv_heads * a.head_dim) * static_cast<double>(before) / static_cast<double>(length);
}

double block_flops(const BlockConfig& block, bool causal, int64_t length, int64_t before) {
  const auto D = static_cast<double>(block.dim), F = static_cast<double>(block.feed_forward.hidden);
  const double feed_forward = (block.feed_forward.gated ? 3.0 : 2.0) * D * F;
  return attention_flops(block, visible_keys(length, causal, block.attention.window, before)) + 2.0 * feed_forward +
         2.0 * D * keys_before(block, length, before);
}

// fp32 numbers that backward needs: what norms and products read, q k v and the attention output, both sides of the
// activation.
double block_numbers(const BlockConfig& block) {
  const AttentionConfig& a = block.attention.config;
  const auto D = static_cast<double>(block.dim), F = static_cast<double>(block.feed_forward.hidden);
  const auto Q = static_cast<double>(a.heads * a.head_dim), KV = static_cast<double>(a.kv_heads * a.head_dim);
  const double norms = block.norm.placement == NormPlacement::parallel   ? 2.0
                       : block.norm.placement == NormPlacement::sandwich ? 6.0
                                                                         : 4.0;
  return norms * D + 2.0 * Q + 2.0 * KV + (block.feed_forward.gated ? 4.0 : 2.0) * F;
}

constexpr double kBytes = 4.0;

}  // namespace

ModelCost stack_cost(const StackConfig& config, bool causal, int64_t length, int64_t before) {
  ModelCost total;
  for (const BlockConfig& block : resolve_blocks(config)) {
    total.flops_per_token += block_flops(block, causal, length, before);
    total.activation_bytes_per_token += kBytes * (block_numbers(block) + keys_before(block, length, before));
  }
  const double last = config.norm.placement == NormPlacement::post ? 1.0 : 2.0;  // the last block's output and its norm
  total.activation_bytes_per_token += kBytes * last * static_cast<double>(config.dim);
  return total;
}

ModelCost cross_cost(const StackConfig& config, int64_t length) {
  ModelCost total;
  for (const BlockConfig& block : resolve_blocks(config)) {
    const AttentionConfig& a = block.attention.config;
    const auto D = static_cast<double>(block.dim), Q = static_cast<double>(a.heads * a.head_dim),
               KV = static_cast<double>(a.kv_heads * a.head_dim);
    total.flops_per_token += attention_flops(block, static_cast<double>(length));
    total.activation_bytes_per_token += kBytes * (2.0 * D + 2.0 * Q + 2.0 * KV);  // a norm, q, the output, keys, values
  }
  return total;
}

}  // namespace ordo
