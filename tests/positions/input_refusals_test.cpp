// SPDX-License-Identifier: Apache-2.0
// What can be wrong in the settings of encodings of the input and of moved positions, and what is said about it.
#include "support/catch.h"

#include "support/position_text.h"
#include "support/positions.h"

namespace ordo::test {

namespace {

const std::vector<WrongPosition> kInputRefusals{
    {"{kind: sinusoidal, theta: 1}", {"theta", "1"}},
    {"{kind: sinusoidal, layout: halves}", {"halves", "half", "interleaved"}},
    {"{kind: sinusoidal, exponent: fairseq}", {"fairseq", "t2t"}},
    {"{kind: sinusoidal, fusion: multiply}", {"multiply", "add", "concat"}},
    {"{kind: sinusoidal, position_dim: -4}", {"position_dim", "-4"}},
    {"{kind: sinusoidal, position_dim: 7}", {"sinusoidal: ", "7 wide", "position_dim: 8"}},
    {"{kind: sinusoidal, fusion: concat, position_dim: 7}", {"7 wide", "layout: half"}},
    {"{kind: sinusoidal, learned: true}", {"unknown key 'learned'"}},
    {"{kind: sinusoidal, frequencies: 99}", {"sinusoidal: 99", "198 columns"}},
    {"{kind: sinusoidal, layers: [1, 0]}", {"before all layers"}},
    {"{kind: learned, max_positions: 8}", {"max_positions (8)", "max_length (16)"}},
    {"{kind: learned, on_overflow: wrap}", {"wrap", "error", "clamp", "interpolate"}},
    {"{kind: learned, on_resize: stretch}", {"stretch", "extend", "interpolate"}},
    {"{kind: learned, offset: -1}", {"offset", "-1"}},
    {"{kind: learned, init_std: -0.1}", {"init_std", "-0.1"}},
    {"{kind: learned, grid: [5, 3], prefix_tokens: 1, max_positions: 17}",
     {"[5, 3]", "makes 16 positions", "max_positions says 17"}},
    {"{kind: learned, grid: [3, 4]}", {"what the grid makes (12)", "max_length (16)"}},
    {"{kind: learned, grid: [16]}", {"grid takes two numbers", "found 1"}},
    {"{kind: learned, grid: [0, 16]}", {"grid", "0"}},
    {"{kind: learned, grid: [4, 4], saved_grid: [2, 2, 2]}", {"saved_grid takes two numbers", "found 3"}},
    {"{kind: learned, grid: [4, 4], offset: 2}", {"no offset (2)"}},
    {"{kind: learned, grid: [4, 4], on_overflow: interpolate}", {"stretches a line"}},
    {"{kind: learned, grid: [4, 4], on_resize: extend}", {"no end to extend"}},
    {"{kind: learned, prefix_tokens: 1}", {"give grid"}},
    {"{kind: learned, saved_offset: -1}", {"saved_offset", "-1"}},
    {"{kind: learned, grid: [4, 4], saved_offset: 2}", {"no saved_offset (2)"}},
    {"{kind: learned, theta: 100}", {"unknown key 'theta'"}},
    {"{kind: sinusoidal_learned, max_positions: -1}", {"max_positions", "-1"}},
    {"{kind: sinusoidal_learned, position_dim: 9}", {"sinusoidal_learned: ", "9 wide"}},
    {"{kind: sinusoidal_learned, alpha: 2}", {"unknown key 'alpha'"}},
    {"{kind: randomized, max_position: 15}", {"max_position (15)", "max_length (16)"}},
    {"{kind: randomized, max_position: 32, evaluation_length: 40}", {"evaluation_length (40)", "max_position (32)"}},
    {"{kind: randomized, evaluation: random}", {"random", "even", "drawn"}},
    {"{kind: randomized, layers: [0, 1]}", {"before all layers"}},
    {"{kind: shape, max_shift: -1}", {"max_shift", "-1"}},
    {"{kind: cape, scale: 0.9}", {"scale", "0.9"}},
    {"{kind: cape, local_shift: -0.5}", {"local_shift", "-0.5"}},
    {"{kind: cape, freq_scale: 0}", {"freq_scale"}},
    {"{kind: calendar, frequency: 1D, features: month, step: 60}",
     {"calendar: features and step", "leave frequency out"}},
    {"[{kind: shape, max_shift: 5}, {kind: cape, shift: 5}]", {"unknown key 'shift'", "global_shift"}},
};

}  // namespace

TEST_CASE("input encodings: every wrong setting is refused at its place with what is wrong", "[unit]") {
  for (const WrongPosition& wrong : kInputRefusals) check_refused(wrong, small_facts());
}

}  // namespace ordo::test
