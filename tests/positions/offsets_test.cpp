// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/offsets.h"

#include "support/catch.h"

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "support/tolerance.h"

namespace ordo::test {

TEST_CASE("offsets: a call of consecutive positions meets each from its lowest to its highest", "[unit]") {
  const Positions q = consecutive(5, 2, at::kCPU), k = consecutive(3, 4, at::kCPU);  // 5, 6 and 3 … 6
  CHECK(offset_range(q, k) == std::pair<int64_t, int64_t>(-3, 1));
  CHECK(same_bytes(offsets_of_call(q, k), at::tensor({-3, -2, -1, 0, 1}, at::kLong)));
}

TEST_CASE("offsets: listed positions are looked at, and no position has no offset", "[unit]") {
  const Positions q{.index = at::tensor({4, 9}, at::kLong).unsqueeze(0)},
      k{.index = at::tensor({7, 1}, at::kLong).unsqueeze(0)}, none{.index = at::zeros({1, 0}, at::kLong)};
  CHECK(offset_range(q, k) == std::pair<int64_t, int64_t>(-8, 3));
  CHECK(offset_range(q, none) == std::pair<int64_t, int64_t>(0, 0));
}

TEST_CASE("offsets: real-valued positions of either side are refused, with what to use", "[unit]") {
  const Positions whole = consecutive(0, 2, at::kCPU);
  Positions real = whole;
  real.coords = at::zeros({1, 2, 1});
  CHECK_NOTHROW(refuse_coords(AttentionPass{.q = whole, .k = whole}, "fire"));
  for (const AttentionPass& pass : {AttentionPass{.q = real, .k = whole}, AttentionPass{.q = whole, .k = real}})
    CHECK_THROWS_WITH(refuse_coords(pass, "fire", "time_decay"), Catch::StartsWith("fire: ") &&
                                                                     Catch::Contains("real-valued") &&
                                                                     Catch::Contains("use time_decay"));
}

}  // namespace ordo::test
