// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "config/sample.h"

namespace ordo::sample {

TEST_CASE("catalogue: an unknown kind is told with the nearest and all kinds", "[unit]") {
  CHECK_THROWS_WITH(positions().find("rpoe"),
                    "unknown position encoding 'rpoe'; did you mean 'rope'? there are: rope, alibi, none, chain");
  CHECK_THROWS_WITH(positions().find("xyzzyx"),
                    "unknown position encoding 'xyzzyx'; there are: rope, alibi, none, chain");
  CHECK_THROWS_AS(positions().find(""), ConfigError);
}

TEST_CASE("catalogue: a choice that was read is built with its settings", "[unit]") {
  const Root root = load("model: {dim: 3, position: {kind: rope, theta: 5}}").root;
  const auto built = positions().build(root.model.position[0], Facts{.dim = 16});
  const auto& rope = static_cast<const Rope&>(*built);
  CHECK(rope.theta == 5.0);
  CHECK(rope.dim == 16);
}

TEST_CASE("catalogue: a bare kind is built with its defaults", "[unit]") {
  CHECK(static_cast<const Rope&>(*positions().build("rope", Facts{})).theta == 10000.0);
}

}  // namespace ordo::sample
