// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/config/config.h"
#include "ordo/train/recompute_policy.h"

namespace ordo::test {
namespace {
using Flags = std::vector<bool>;
Flags flags_of(const std::string& yaml, double activation_bytes = 4e9) {
  Choice<Recompute> choice{"none"};
  load_config_text("recompute: " + yaml, [&](Fields& f) { f("recompute", choice, ""); }, {});
  return recompute_policies().build(choice, {.layers = 4, .activation_bytes = activation_bytes})->blocks();
}
}  // namespace

TEST_CASE("recompute policies: which of four blocks are recomputed", "[unit]") {
  CHECK(flags_of("none") == Flags{false, false, false, false});
  CHECK(flags_of("blocks") == Flags{true, true, true, true});
  CHECK(flags_of("{kind: every, n: 1}") == Flags{true, true, true, true});
  CHECK(flags_of("{kind: every, n: 2}") == Flags{true, false, true, false});
  CHECK(flags_of("{kind: every, n: 9}") == Flags{true, false, false, false});
}

TEST_CASE("recompute budget: as few blocks as fit, with room for the one being replayed", "[unit]") {
  CHECK(flags_of("{kind: budget, memory: 4GB}") == Flags{false, false, false, false});
  CHECK(flags_of("{kind: budget, memory: 3GB}") == Flags{true, true, false, false});
  CHECK(flags_of("{kind: budget, memory: 1000MB}") == Flags{true, true, true, true});
  CHECK(flags_of("{kind: budget, memory: 1MB}") == Flags{true, true, true, true});
}

}  // namespace ordo::test
