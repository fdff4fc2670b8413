// SPDX-License-Identifier: Apache-2.0
// What can be wrong in the settings of encodings that read content, and what is said about it.
#include "support/catch.h"

#include "support/position_text.h"
#include "support/positions.h"

namespace ordo::test {

namespace {

struct ContentRefusal : WrongPosition {
  bool causal = true;
};

const std::vector<ContentRefusal> kContentRefusals{
    {{"{kind: transformer_xl, clamp_length: -1}", {"clamp_length", "-1"}}},
    {{"{kind: transformer_xl, clamp_len: 8}", {"unknown key 'clamp_len'", "clamp_length"}}},
    {{"{kind: transformer_xl, init_std: -0.1}", {"init_std", "-0.1"}}},
    {{"{kind: shaw, variant: relative}", {"relative", "clipped", "relative_key"}}},
    {{"{kind: shaw, max_relative_positions: -3}", {"max_relative_positions", "-3"}}},
    {{"{kind: shaw, beyond_window: wrap}", {"wrap", "clip", "zero"}}},
    {{"{kind: shaw, left: 2, right: 2, max_relative_positions: 4}", {"shaw: left (2)", "right (2)"}}},
    {{"{kind: shaw, right: 1}", {"shaw: right (1)", "causal", "right: 0"}}},
    {{"{kind: shaw, use_value: false, share_kv_table: true}", {"shaw: share_kv_table", "use_value is false"}}},
    {{"{kind: shaw, variant: relative_key, max_relative_positions: 15}", {"(15)", "max_length (16)"}}},
    {{"{kind: shaw, variant: relative_key_query, right: 3}", {"shaw: left, right", "variant: clipped"}}},
    {{"{kind: shaw, variant: relative_key, beyond_window: zero}", {"beyond_window", "variant: clipped"}}},
    {{"{kind: deberta, pos_att_type: [c2p, c2c]}", {"c2c", "c2p", "p2c"}}},
    {{"{kind: deberta, pos_att_type: []}", {"deberta: pos_att_type", "found 0", "leave it out for both"}}},
    {{"{kind: deberta, pos_att_type: [p2c, p2c]}", {"position.pos_att_type names p2c twice"}}},
    {{"{kind: deberta, position_buckets: -2}", {"position_buckets", "-2"}}},
    {{"{kind: deberta, position_buckets: 1}", {"deberta: position_buckets: 1"}}},
    {{"{kind: deberta, position_buckets: 32}", {"position_buckets (32)", "max_relative_positions (16)"}}},
    {{"{kind: deberta, norm_rel_ebd: rms}", {"rms", "layer_norm"}}},
    {{"{kind: cope, npos_max: 0}", {"npos_max", "0"}}},
    {{"{kind: cope, scale: paper}", {"paper", "official", "nodiv"}}},
    {{"{kind: cope}", {"cope: it counts the keys up to the query", "shaw"}}, false},
    {{"{kind: fox, bias_init: open}", {"bias_init", "open"}}},
    {{"{kind: fox, theta: 2}", {"unknown key 'theta'"}}},
    {{"{kind: path, rank: -1}", {"rank", "-1"}}},
    {{"{kind: path}", {"path: it multiplies what lies between", "rope"}}, false},
};

}  // namespace

TEST_CASE("content encodings: every wrong setting is refused at its place with what is wrong", "[unit]") {
  for (const ContentRefusal& wrong : kContentRefusals) {
    PositionFacts facts = small_facts();
    facts.causal = wrong.causal;
    check_refused(wrong, facts);
  }
}

}  // namespace ordo::test
