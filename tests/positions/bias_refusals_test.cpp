// SPDX-License-Identifier: Apache-2.0
// What can be wrong in the settings of score biases, and what is said about it.
#include "support/catch.h"

#include "support/position_text.h"
#include "support/positions.h"

namespace ordo::test {

namespace {

struct BiasRefusal : WrongPosition {
  bool causal = true;
};

const std::vector<BiasRefusal> kBiasRefusals{
    {{"{kind: t5_bias, num_buckets: 1}", {"num_buckets", "1"}}},
    {{"{kind: t5_bias, num_buckets: 31}", {"t5_bias: num_buckets (31)", "even number"}}, false},
    {{"{kind: t5_bias, num_buckets: 64, max_distance: 32}", {"max_distance (32)", "larger than 32", "num_buckets 64"}}},
    {{"{kind: t5_bias, init_std: -1}", {"init_std", "-1"}}},
    {{"{kind: t5_bias, shared: 2}", {"shared"}}},
    {{"{kind: t5_bias, buckets: 32}", {"unknown key 'buckets'", "num_buckets"}}},
    {{"{kind: alibi, direction: both}", {"both", "symmetric", "split"}}},
    {{"{kind: alibi, direction: causal}", {"alibi: direction causal", "symmetric"}}, false},
    {{"{kind: alibi, direction: split}", {"alibi: direction split", "use causal"}}},
    {{"{kind: alibi, direction: split, num_alibi_heads: 3}", {"even number of biased heads, found 3"}}, false},
    {{"{kind: alibi, num_alibi_heads: 5}", {"num_alibi_heads (5)", "heads (4)", "0 for all"}}},
    {{"{kind: alibi, alibi_bias_max: 0}", {"alibi_bias_max", "0"}}},
    {{"{kind: alibi, learn_slopes: true}", {"unknown key 'learn_slopes'", "learned_slopes"}}},
    {{"{kind: kerple, variant: exp}", {"exp", "log", "power", "log3"}}},
    {{"{kind: kerple, a: 0.5}", {"unknown key 'a'"}}},
    {{"{kind: sandwich, sandwich_dim: 9}", {"sandwich: sandwich_dim (9)", "use 10"}}},
    {{"{kind: sandwich, theta: 0.5}", {"theta", "0.5"}}},
    {{"{kind: fire}", {"fire: ", "both sides", "t5_bias"}}, false},
    {{"{kind: fire, init_c: 0}", {"fire: with init_c 0"}}},
    {{"{kind: fire, init_L: -4}", {"init_L", "-4"}}},
    {{"{kind: fire, hidden: 0}", {"hidden", "0"}}},
    {{"{kind: fire, eps: 0}", {"eps", "0"}}},
    {{"{kind: mlp_bias, depth: 0}", {"depth", "0"}}},
    {{"{kind: mlp_bias, dim: -8}", {"dim", "-8"}}},
    {{"{kind: mlp_bias, log: true}", {"unknown key 'log'", "log_distance"}}},
    {{"{kind: window_bias, window: 3}", {"window of 3 x 3", "max_length (16)"}}},
    {{"{kind: window_bias, window: [4, 4, 4]}", {"window has two sides", "found 3"}}},
    {{"{kind: window_bias, window: [0, 4]}", {"window leaves one side open"}}},
    {{"{kind: window_bias, variant: swin_v2, pretrained_window: [2, 0]}", {"pretrained_window leaves one side open"}}},
    {{"{kind: window_bias, variant: swin_v3}", {"swin_v3", "swin_v2"}}},
    {{"{kind: window_bias, hidden: 0}", {"hidden", "0"}}},
    {{"{kind: window_bias, hidden: 512}", {"window_bias: hidden is of variant swin_v2", "leave it out"}}},
    {{"{kind: window_bias, pretrained_window: 4}", {"pretrained_window is of variant swin_v2"}}},
    {{"{kind: window_bias, variant: swin_v2, saved_window: 4}", {"saved_window is of variant swin"}}},
    {{"{kind: window_bias, saved_window: [3, 0]}", {"saved_window leaves one side open"}}},
    {{"{kind: expression, shared: false}", {"expression: shared: false", "name parameters"}}},
};

}  // namespace

TEST_CASE("score biases: every wrong setting is refused at its place with what is wrong", "[unit]") {
  for (const BiasRefusal& wrong : kBiasRefusals) {
    PositionFacts facts = small_facts();
    facts.causal = wrong.causal;
    check_refused(wrong, facts);
  }
}

}  // namespace ordo::test
