// SPDX-License-Identifier: Apache-2.0
// What can be wrong in the settings of the rotary family, and what is said about it.
#include "support/catch.h"

#include "positions/rotary.h"

namespace ordo::test {

namespace {

struct RotaryRefusal : WrongPosition {
  int64_t head_dim = 8;
};

std::string scaling(const std::string& settings) { return "{kind: rope, scaling: {" + settings + "}}"; }

const std::vector<RotaryRefusal>& refusals() {
  const std::string four = "[1, 1, 1, 1]";
  static const std::vector<RotaryRefusal> kRefusals{
      // the encoding itself
      {{"{kind: rope, theta: 1}", {"theta"}}},
      {{"{kind: rope, theta: ten}", {"theta", "number"}}},
      {{"{kind: rope, layout: halves}", {"halves", "half", "interleaved"}}},
      {{"{kind: rope, partial_rotary_factor: 0}", {"partial_rotary_factor"}}},
      {{"{kind: rope, partial_rotary_factor: 1.5}", {"partial_rotary_factor", "1.5"}}},
      {{"{kind: rope, partial_rotary_factor: 0.4}",
        {"rotary width 3 is odd", "head_dim 8 x partial_rotary_factor 0.4"}}},
      {{"{kind: rope, partial_rotary_factor: 0.1}", {"no pair of channels"}}},
      {{"{kind: rope, rotary_dim: -2}", {"rotary_dim", "-2"}}},
      {{"{kind: rope, rotary_dim: 7}", {"rotary width 7 is odd", "6 or 8"}}},
      {{"{kind: rope, rotary_dim: 10}", {"rotary_dim (10) is larger than head_dim (8)", "rotate whole heads"}}},
      {{"{kind: rope, rotary_dim: 4, partial_rotary_factor: 0.5}", {"give one of them"}}},
      {{"rope", {"rotary width 15 is odd", "14 or 16"}}, 15},
      {{"{kind: rope, rotary_value: 1}", {"rotary_value"}}},
      {{"{kind: rope, rope_theta: 5}", {"unknown key 'rope_theta'", "theta"}}},
      // kinds of scaling
      {{"{kind: rope, scaling: yarm}", {"yarm", "yarn"}}},
      {{scaling("factor: 2"), {"kind"}}},
      {{scaling("kind: none, factor: 2"), {"factor"}}},
      {{scaling("kind: linear"), {"missing key", "factor"}}},
      {{scaling("kind: linear, factor: 0.5"), {"factor", "0.5"}}},
      {{scaling("kind: linear, factor: 2, original_max_position_embeddings: 64"),
        {"original_max_position_embeddings"}}},
      {{scaling("kind: ntk"), {"missing key", "factor"}}},
      {{scaling("kind: ntk, factor: 0.9"), {"factor", "0.9"}}},
      {{"{kind: rope, rotary_dim: 2, scaling: {kind: ntk, factor: 2}}", {"scaling ntk", "4 channels"}}},
      {{"{kind: rope, rotary_dim: 2, scaling: {kind: dynamic, factor: 2, original_max_position_embeddings: 8}}",
        {"scaling dynamic", "4 channels"}}},
      {{scaling("kind: dynamic, factor: 2"), {"scaling dynamic needs original_max_position_embeddings"}}},
      {{scaling("kind: dynamic, factor: 0, original_max_position_embeddings: 8"), {"factor"}}},
      {{scaling("kind: dynamic, factor: 2, original_max_position_embeddings: 1"),
        {"original_max_position_embeddings"}}},
      {{scaling("kind: dynamic, factor: 2, original_max_position_embeddings: 8.5"),
        {"original_max_position_embeddings"}}},
      {{scaling("kind: dynamic, factor: 2, original_max_position_embeddings: 8, keep_longest: always"),
        {"keep_longest"}}},
      {{scaling("kind: dynamic, factor: 2, original_max_position_embeddings: 8, beta_fast: 1"), {"beta_fast"}}},
      {{scaling("kind: yarn, factor: 2"), {"scaling yarn needs original_max_position_embeddings"}}},
      {{scaling("kind: yarn, original_max_position_embeddings: 64"), {"missing key", "factor"}}},
      {{scaling("kind: yarn, factor: 0.25, original_max_position_embeddings: 64"), {"factor", "0.25"}}},
      {{scaling("kind: yarn, factor: 2, original_max_position_embeddings: 64, beta_fast: 1, beta_slow: 32"),
        {"beta_fast (1)", "beta_slow (32)"}}},
      {{scaling("kind: yarn, factor: 2, original_max_position_embeddings: 64, beta_slow: 0"), {"beta_slow"}}},
      {{scaling("kind: yarn, factor: 2, original_max_position_embeddings: 64, mscale: 1"),
        {"mscale and mscale_all_dim", "both or none"}}},
      {{scaling("kind: yarn, factor: 2, original_max_position_embeddings: 64, mscale_all_dim: 1"), {"both or none"}}},
      {{scaling("kind: yarn, factor: 2, original_max_position_embeddings: 64, mscale: 1, mscale_all_dim: 1, "
                "attention_factor: 1"),
        {"attention_factor (1)", "mscale (1)", "give one of them"}}},
      {{scaling("kind: yarn, factor: 2, original_max_position_embeddings: 64, attention_factor: 0"),
        {"attention_factor"}}},
      {{scaling("kind: yarn, factor: 2, original_max_position_embeddings: 64, long_factor: " + four), {"long_factor"}}},
      {{scaling("kind: llama3, factor: 2"), {"scaling llama3 needs original_max_position_embeddings"}}},
      {{scaling("kind: llama3, factor: 2, original_max_position_embeddings: 64, low_freq_factor: 4"),
        {"high_freq_factor (4)", "low_freq_factor (4)"}}},
      {{scaling("kind: llama3, factor: 2, original_max_position_embeddings: 64, low_freq_factor: 0"),
        {"low_freq_factor"}}},
      {{scaling("kind: longrope, short_factor: " + four + ", long_factor: " + four),
        {"scaling longrope needs original_max_position_embeddings"}}},
      {{scaling("kind: longrope, original_max_position_embeddings: 8, short_factor: " + four),
        {"missing key", "long_factor"}}},
      {{scaling("kind: longrope, original_max_position_embeddings: 8, short_factor: " + four +
                ", long_factor: [1, 1, 1]"),
        {"long_factor has 3 numbers", "4 rotated pairs"}}},
      {{scaling("kind: longrope, original_max_position_embeddings: 8, short_factor: [1, 1, 1, 1, 1], long_factor: " +
                four),
        {"short_factor has 5 numbers", "4 rotated pairs"}}},
      {{scaling("kind: longrope, original_max_position_embeddings: 8, short_factor: " + four +
                ", long_factor: [1, 1, 0, 1]"),
        {"long_factor"}}},
      {{scaling("kind: longrope, original_max_position_embeddings: 8, factor: 2, attention_factor: 1, short_factor: " +
                four + ", long_factor: " + four),
        {"factor (2)", "attention_factor (1)", "give one of them"}}},
      {{scaling("kind: proportional, factor: 2"), {"factor"}}},
      {{"{kind: rope, scaling: proportional}", {"head_dim 9 is odd"}}, 9},
      // the others of the family
      {{"{kind: rope_2d, variant: swin}", {"swin", "pixtral", "dinov3"}}},
      {{"{kind: rope_2d, height: 4}", {"height (4)", "dinov3"}}},
      {{"{kind: rope_2d, width: 0}", {"width"}}},
      {{"{kind: rope_2d, prefix_tokens: -1}", {"prefix_tokens"}}},
      {{"{kind: rope_2d, jitter: 0.5}", {"jitter"}}},
      {{"{kind: rope_2d, rescale: 0.5}", {"rescale"}}},
      {{"{kind: rope_2d, shift: -1}", {"shift"}}},
      {{"rope_2d", {"groups of 4", "heads of 6 channels", "4 or 8"}}, 6},
      {{"{kind: mrope, mrope_section: [2, 2]}", {"mrope_section has 2 numbers", "time, height and width"}}},
      {{"{kind: mrope, mrope_section: [2, 2, 2]}", {"add up to 6", "4 pairs"}}},
      {{"{kind: mrope, mrope_section: [5, -1, 0]}", {"mrope_section"}}},
      {{"mrope", {"groups of 2", "heads of 7 channels", "6 or 8"}}, 7},
      {{"{kind: xpos, gamma: 0}", {"gamma"}}},
      {{"{kind: xpos, scale_base: 0}", {"scale_base"}}},
      {{"{kind: xpos, layout: half}", {"layout"}}},
      {{"xpos", {"groups of 2", "make head_dim 2"}}, 1},
      {{"{kind: time_rope, unit: 0}", {"unit"}}},
      {{"{kind: time_rope, theta: 0.5}", {"theta"}}},
      {{"time_rope", {"groups of 2", "heads of 5 channels"}}, 5},
  };
  return kRefusals;
}

}  // namespace

TEST_CASE("rotary family: every wrong setting is refused at its place with what is wrong", "[unit]") {
  CHECK(refusals().size() >= 60);
  for (const RotaryRefusal& wrong : refusals()) check_refused(wrong, heads_of(wrong.head_dim));
}

TEST_CASE("xpos: a stack that looks ahead is refused with what to use", "[unit]") {
  PositionFacts facts = heads_of(8);
  facts.causal = false;
  CHECK_THROWS_WITH(position_of("xpos", facts), Catch::Contains("xpos: ") && Catch::Contains("use rope"));
}

}  // namespace ordo::test
