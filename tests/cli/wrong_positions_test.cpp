// SPDX-License-Identifier: Apache-2.0
// Mistakes in the settings of a position encoding, the place that each is refused at, and how the refusal begins.
#include "support/catch.h"

#include <fmt/core.h>

#include "ordo/core/errors.h"
#include "ordo/models/model.h"
#include "ordo/tasks/task.h"
#include "ordo/train/run_config.h"

namespace ordo::test {
namespace {

constexpr std::string_view kBefore = R"(task:
  kind: language_modeling
  tokenizer: char
  data: {generate: {kind: chase, sentences: 20, held_out: 5}}
model:
  kind: decoder
  dim: 32
  layers: 2
  attention: {heads: 2}
  position: )";
constexpr std::string_view kAfter = R"(
train:
  steps: 2
  batch_size: 2
  length: 16
)";

struct WrongPosition {
  std::string_view yaml;     // model.position
  std::string_view place;    // line:column
  std::string_view message;  // how it begins
};

const std::vector<WrongPosition>& wrong_positions() {
  static const std::vector<WrongPosition> kWrong{
      {"{kind: rope, theta: 1}", "10:33", "model.position.theta is 1, must be above 1"},
      {"{kind: rope, layout: halves}", "10:34",
       "model.position.layout must be one of half, interleaved, found 'halves'"},
      {"{kind: rope, partial_rotary_factor: 0.2}", "10:20",
       "rope: rotary width 3 is odd (head_dim 16 x partial_rotary_factor 0.2),"},
      {"{kind: rope, rotary_dim: 7}", "10:20",
       "rope: rotary width 7 is odd (rotary_dim 7), but channels are rotated in"},
      {"{kind: rope, rotary_dim: 18}", "10:20", "rope: rotary_dim (18) is larger than head_dim (16)"},
      {"{kind: rope, scaling: yarm}", "10:35", "unknown kind 'yarm' in model.position.scaling"},
      {"{kind: rope, scaling: {factor: 2}}", "10:36", "unknown key 'factor' in model.position.scaling (kind: none)"},
      {"{kind: rope, scaling: {kind: linear}}", "10:26", "missing key 'model.position.scaling.factor'"},
      {"{kind: rope, scaling: {kind: linear, factor: 0.5}}", "10:58",
       "model.position.scaling.factor is 0.5, must be at least 1"},
      {"{kind: rope, scaling: {kind: dynamic, factor: 2}}", "10:42",
       "rope: scaling dynamic needs original_max_position_embeddings, the"},
      {"{kind: rope, scaling: {kind: yarn, factor: 4}}", "10:42",
       "rope: scaling yarn needs original_max_position_embeddings, the length"},
      {"{kind: rope, scaling: {kind: llama3, factor: 4}}", "10:42",
       "rope: scaling llama3 needs original_max_position_embeddings, the length"},
      {"{kind: rope, scaling: {kind: longrope, original_max_position_embeddings: 16, short_factor: [1, 1], "
       "long_factor: [1, 1, 1, 1, 1, 1, 1, 1]}}",
       "10:42", "rope: scaling longrope: short_factor has 2 numbers, one for each of the"},
      {"{kind: rope, scaling: {kind: longrope, original_max_position_embeddings: 16, short_factor: [1, 1, 1, 1, 1, 1, "
       "1, 1], long_factor: [1, 2]}}",
       "10:42", "rope: scaling longrope: long_factor has 2 numbers, one for each of the"},
      {"{kind: rope, rope_theta: 500000}", "10:26", "unknown key 'rope_theta' in model.position (kind: rope)"},
      {"{kind: rope, layers: [0, 0]}", "10:20", "layers (model.position.layers) is a pattern that repeats over the"},
      {"{kind: rope, layers: [1, 0, 1]}", "10:26",
       "model.position.layers has 3 entries, but there are only model.layers (2) to share them"},
      {"[{kind: rope, layers: [1, 0, 1]}, alibi]", "10:27",
       "model.position.0.layers has 3 entries, but there are only model.layers (2)"},
      {"{kind: expression, bias: -a*distance, parameters: [{init: 1}]}", "10:64",
       "missing key 'model.position.parameters.0.name'"},
      {"null", "10:13", "model.position must be a kind, or a list of kinds, found nothing"},
      {"{kind: rope, layers: [2]}", "10:35", "model.position.layers.0 is 2, must be in [0, 1]"},
      {"{kind: sinusoidal, layers: [1, 0]}", "10:20",
       "an encoding that acts on input does so once, before all layers: layers"},
      {"{kind: sinusoidal, fusion: concatenate}", "10:40",
       "model.position.fusion must be one of add, concat, found 'concatenate'"},
      {"{kind: sinusoidal, position_dim: -4}", "10:46", "model.position.position_dim is -4, must be in [0, 1048576]"},
      {"{kind: sinusoidal, position_dim: 7}", "10:20",
       "sinusoidal: layout interleaved pairs sines with cosines, but the rows"},
      {"{kind: learned, max_positions: 8}", "10:20",
       "learned: max_positions (8) is smaller than the model's max_length (16);"},
      {"{kind: learned, on_overflow: wrap}", "10:42",
       "model.position.on_overflow must be one of error, clamp, interpolate,"},
      {"{kind: learned, grid: [3, 4]}", "10:20", "learned: what the grid makes (12) is smaller than the model's"},
      {"{kind: randomized, max_position: 4}", "10:20",
       "randomized: max_position (4) is smaller than the model's max_length"},
      {"{kind: shape, max_shift: -1}", "10:38", "model.position.max_shift is -1, must be at least 0"},
      {"{kind: cape, scale: 0}", "10:33", "model.position.scale is 0, must be at least 1"},
      {"{kind: rope_2d, width: 0}", "10:36", "model.position.width is 0, must be at least 1"},
      {"{kind: mrope, mrope_section: [1, 2]}", "10:20",
       "mrope: mrope_section has 2 numbers; 3 are needed, of time, height and"},
      {"{kind: xpos, gamma: -1}", "10:33", "model.position.gamma is -1, must be above 0"},
      {"{kind: transformer_xl, init_std: -0.1}", "10:46", "model.position.init_std is -0.1, must be at least 0"},
      {"{kind: shaw, variant: relative_key, max_relative_positions: 4}", "10:20",
       "shaw: max_relative_positions (4) is smaller than the model's max_length"},
      {"{kind: deberta, pos_att_type: [c2c]}", "10:44",
       "model.position.pos_att_type.0 must be one of c2p, p2c, found 'c2c'"},
      {"{kind: deberta, position_buckets: 1}", "10:20",
       "deberta: position_buckets: 1 holds no distance; use 2 or more, or 0"},
      {"{kind: t5_bias, num_buckets: 1}", "10:42", "model.position.num_buckets is 1, must be in [2, 1048576]"},
      {"{kind: t5_bias, num_buckets: 32, max_distance: 8}", "10:20",
       "t5_bias: max_distance (8) must be larger than 16, the number of"},
      {"{kind: alibi, direction: symetric}", "10:38",
       "model.position.direction must be one of causal, symmetric, asymmetric,"},
      {"{kind: alibi, num_alibi_heads: 3}", "10:20",
       "alibi: num_alibi_heads (3) is larger than the number of heads (2)"},
      {"{kind: alibi, direction: split}", "10:20", "alibi: direction split lets half of the heads look ahead, which a"},
      {"{kind: kerple, variant: logarithm}", "10:37", "model.position.variant must be one of log, power, log3, found"},
      {"{kind: sandwich, sandwich_dim: 7}", "10:20", "sandwich: sandwich_dim (7) is odd; it counts pairs, use 8"},
      {"{kind: fire, hidden: 0}", "10:34", "model.position.hidden is 0, must be in [1, 65536]"},
      {"{kind: mlp_bias, depth: 0}", "10:37", "model.position.depth is 0, must be in [1, 64]"},
      {"{kind: window_bias, window: [2, 2]}", "10:20",
       "window_bias: a window of 2 x 2 holds fewer tokens than the model's"},
      {"{kind: fox, bias_init: high}", "10:36", "model.position.bias_init must be a number, found 'high'"},
      {"{kind: path, rank: -1}", "10:32", "model.position.rank is -1, must be in [0, 65536]"},
      {"{kind: time_rope, unit: 0}", "10:37", "model.position.unit is 0, must be above 0"},
      {"{kind: time_sinusoidal, unit: -1}", "10:43", "model.position.unit is -1, must be above 0"},
      {"time_age", "10:13", "time_age: a token's age counts from the row's end, which a causal stack"},
      {"{kind: calendar, features: [minuet]}", "10:41",
       "model.position.features.0 must be one of second, minute, hour,"},
      {"{kind: time_decay, variant: cubic}", "10:41",
       "model.position.variant must be one of linear, log, found 'cubic'"},
      {"{kind: time2vec, dims: 0}", "10:30", "unknown key 'dims' in model.position (kind: time2vec)"},
      {"{kind: liere, block: 3}", "10:20", "liere: block (3) must be even, because it starts as turns of pairs"},
      {"{kind: expression, bias: \"-a*abs(i-j)\"}", "10:40", "model.position.bias: unknown name 'a'"},
      {"{kind: expression, bias: \"-abs(i-j\"}", "10:43", "model.position.bias: '(' is never closed"},
      {"{kind: expression, bias: \"1/(i-j)\"}", "10:20",
       "expression: the bias is inf at i = 0, j = 0 (head 0); it must be finite"},
      {"[rope, {kind: alibi, slope: 2}]", "10:34", "unknown key 'slope' in model.position.1 (kind: alibi)"},
      {"[{kind: rope}, {kind: rope, rotary_dim: 5}]", "10:35",
       "rope: rotary width 5 is odd (rotary_dim 5), but channels are rotated in"},
      {"ropee", "10:13", "unknown kind 'ropee' in model.position"},
      {"{theta: 5}", "10:13", "missing key 'model.position.kind'"},
      {"[shaw, xpos]", "10:20", "xpos turns queries and keys by the length of their row, and shaw reads them"},
      {"[cape, alibi]", "10:20", "cape moves tokens to 1 real-valued coordinate each, which alibi does not take"},
      {"[{kind: rope_2d, jitter: 1.5}, alibi]", "10:44", "rope_2d moves tokens to 2 real-valued coordinates each"},
  };
  return kWrong;
}

// What reading the config and assembling its model say; empty when all is well.
std::string position_refusal(std::string_view yaml) {
  const std::string text = fmt::format("{}{}{}", kBefore, yaml, kAfter);
  try {
    const RunConfig config = load_run_config_text(text, "wrong.yaml", {}).config;
    const auto task = tasks().build(config.task, {});
    models().build(config.model, task->complete({.max_length = config.train.length}));
  } catch (const ConfigError& refused) {
    return refused.what();
  }
  return "";
}

}  // namespace

TEST_CASE("wrong positions: each is refused at its place, before anything is trained", "[cli]") {
  CHECK(wrong_positions().size() >= 40);
  for (const WrongPosition& wrong : wrong_positions()) {
    INFO(wrong.yaml);
    CHECK_THAT(position_refusal(wrong.yaml),
               Catch::StartsWith(fmt::format("wrong.yaml:{}: {}", wrong.place, wrong.message)));
  }
}

TEST_CASE("wrong positions: what is right there is not refused", "[cli]") {
  for (const auto* yaml :
       {"rope", "[shape, rope]", "{kind: rope, layers: [1, 0]}", "{kind: shaw, variant: relative_key}"})
    CHECK(position_refusal(yaml).empty());
}

}  // namespace ordo::test
