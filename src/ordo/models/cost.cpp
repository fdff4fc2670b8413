// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/cost.h"

#include <algorithm>

namespace ordo {

namespace {

// Keys that a query of a row of this length sees, on average; a window reaches as far ahead where there is no mask.
double visible_keys(int64_t length, bool causal, std::optional<int64_t> window) {
  const double n = static_cast<double>(length), w = static_cast<double>(std::min(window.value_or(length), length));
  const double back = w - w * (w - 1.0) / (2.0 * n);  // the first w - 1 rows see fewer: 1, 2, …
  return causal ? back : 2.0 * back - 1.0;
}

// Products of one token's attention that sees so many keys: projections, scores, weighted values.
double attention_flops(const BlockConfig& block, double keys) {
  const AttentionConfig& a = block.attention.config;
  const auto D = static_cast<double>(block.dim);
  const auto Q = static_cast<double>(a.heads * a.head_dim), KV = static_cast<double>(a.kv_heads * a.head_dim);
  return 2.0 * (D * Q + 2.0 * D * KV + Q * D + 2.0 * Q * keys);
}

double block_flops(const BlockConfig& block, bool causal, int64_t length) {
  const auto D = static_cast<double>(block.dim), F = static_cast<double>(block.feed_forward.hidden);
  const double feed_forward = (block.feed_forward.gated ? 3.0 : 2.0) * D * F;
  return attention_flops(block, visible_keys(length, causal, block.attention.window)) + 2.0 * feed_forward;
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

ModelCost stack_cost(const StackConfig& config, bool causal, int64_t length) {
  ModelCost total;
  for (const BlockConfig& block : resolve_blocks(config)) {
    total.flops_per_token += block_flops(block, causal, length);
    total.activation_bytes_per_token += kBytes * block_numbers(block);
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
