// SPDX-License-Identifier: Apache-2.0
#include "support/conformance.h"

namespace ordo::test {

const std::vector<std::string>& encoding_variants() {
  static const std::vector<std::string> kVariants{
      "{kind: rope, layers: [1, 0]}",
      "{kind: rope, layout: interleaved, partial_rotary_factor: 0.5}",
      "{kind: rope, rotary_value: true}",
      "{kind: rope, scaling: {kind: yarn, factor: 4, original_max_position_embeddings: 16}}",
      "{kind: rope, scaling: {kind: dynamic, factor: 4, original_max_position_embeddings: 24}}",
      "{kind: rope, scaling: {kind: longrope, original_max_position_embeddings: 24, short_factor: [1, 1, 1, 2], "
      "long_factor: [1, 2, 4, 8]}}",
      "{kind: rope, scaling: proportional, partial_rotary_factor: 0.5}",
      "{kind: rope_2d, variant: dinov3, width: 5, height: 4, prefix_tokens: 2}",
      "{kind: xpos, scale_base: 16}",
      "{kind: liere, block: 4, init_std: 0.1}",
      "[sinusoidal, {kind: rope, layers: [0, 1]}]",
      "{kind: sinusoidal, fusion: concat, position_dim: 20}",
      "{kind: sinusoidal, layout: half, exponent: t2t, learned_scale: true, position_dim: 48}",
      "{kind: learned, offset: 2, fusion: concat, position_dim: 12, init_std: 0.5}",
      "{kind: learned, max_positions: 10, on_overflow: clamp}",
      "{kind: learned, on_overflow: interpolate}",
      "{kind: learned, grid: [7, 9], prefix_tokens: 1}",
      "{kind: sinusoidal_learned, max_positions: 12, learned_alpha: true}",
      "[{kind: randomized, evaluation: drawn, per_row: true}, rope]",
      "[{kind: randomized, max_position: 200}, alibi]",
      "[{kind: shape, max_shift: 30}, sinusoidal]",
      "[{kind: cape, normalize: false}, sinusoidal]",
      "[cape, rope]",
      "{kind: t5_bias, shared: false}",
      "{kind: alibi, learned_slopes: true}",
      "{kind: alibi, direction: asymmetric, num_alibi_heads: 3}",
      "{kind: alibi, direction: split}",
      "{kind: rope, scaling: {kind: linear, factor: 4}}",
      "{kind: rope, scaling: {kind: ntk, factor: 4}}",
      "{kind: rope, scaling: {kind: llama3, factor: 4, original_max_position_embeddings: 16}}",
      "{kind: kerple, variant: power}",
      "{kind: kerple, variant: power, multiplicative: true}",
      "{kind: kerple, variant: log3}",
      "{kind: fire, init_L: 5, shared: false}",
      "{kind: mlp_bias, log_distance: false, norm: false}",
      "{kind: window_bias, variant: swin_v2, hidden: 16}",
      "{kind: expression, parameters: [{name: p, init: 1.5}, {name: a, init: 0.7}], bias: '-p*log(1 + a*abs(i - j))'}",
      "{kind: expression, shared: false, parameters: [{name: t, size: 9, init: 0.5}], bias: 't[min(abs(i - j), 8)]*h'}",
      "{kind: expression, parameters: [{name: a, init: 0.8}], bias: '-a*abs(distance)/length + sin(i*(1 + a) + j)'}",
      "{kind: transformer_xl, untie_r: true, clamp_length: 5, init_std: 0.3}",
      "{kind: shaw, variant: relative_key_query, use_value: true}",
      "{kind: shaw, left: 3, right: 0, beyond_window: zero}",
      "{kind: shaw, max_relative_positions: 4, share_kv_table: true, init_std: 0.5}",
      "{kind: deberta, position_buckets: 8, share_att_key: true, norm_rel_ebd: layer_norm}",
      "{kind: deberta, pos_att_type: p2c, max_relative_positions: 6}",
      "{kind: cope, npos_max: 5, scale: nodiv, init_std: 0.5}",
      "{kind: path, rank: 0}",
      "[rope, {kind: fox, bias_init: 0}]",
      "[path, fox, {kind: shaw, layers: [1, 0]}]",
      "[rope, shaw]",
      "[xpos, alibi]",
      "{kind: time_sinusoidal, unit: 3, layout: half, origin: 2}",
      "{kind: time2vec, fusion: concat, position_dim: 6, span: 20}",
      "{kind: time_decay, variant: log, shared: true, unit: 2}",
      "{kind: time_age, features: 3, span: 30}",
      "{kind: calendar, frequency: 1s, step: 1000, start: 2016-07-01}",
  };
  return kVariants;
}

}  // namespace ordo::test
