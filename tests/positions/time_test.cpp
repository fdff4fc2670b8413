// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>

#include "ordo/positions/time.h"
#include "support/positions.h"
#include "support/times.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {
Positions padded_times() {  // two pads, a document of three tokens, one of two, a pad
  return {.index = at::tensor({0, 0, 0, 1, 2, 0, 1, 0}, at::kLong).unsqueeze(0)};
}
}  // namespace

TEST_CASE("time: documents and padding are told apart by where the index starts anew", "[unit]") {
  CHECK(same_bytes(document_starts(padded_times()), at::tensor({0, 1, 2, 2, 2, 5, 5, 7}, at::kLong).unsqueeze(0)));
  CHECK(same_bytes(document_ends(padded_times()).contiguous(),
                   at::tensor({0, 1, 4, 4, 4, 6, 6, 7}, at::kLong).unsqueeze(0)));
  CHECK(same_bytes(document_starts(consecutive(3, 2, at::kCPU)), at::tensor({0, 0}, at::kLong).unsqueeze(0)));
}

TEST_CASE("time: documents whose positions were moved start where positions grow no more", "[unit]") {
  const Positions moved{.index = at::tensor({4, 4, 4, 9, 11, 6, 13, 6}, at::kLong).unsqueeze(0)};
  CHECK(same_bytes(document_starts(moved), document_starts(padded_times())));
  CHECK(same_bytes(document_ends(moved).contiguous(), document_ends(padded_times()).contiguous()));
}

TEST_CASE("time: a clock counts from each document's first stamp, exactly", "[unit]") {
  Positions at = padded_times();
  at.coords = at::tensor({7.0, 7.0, 1.7e9, 1.7e9 + 0.25, 1.7e9 + 60.0, 30.0, 90.0, 0.0}, at::kDouble).view({1, 8, 1});
  CHECK(same_bytes(clock_times(at, {.unit = 2.0}, "x"),
                   at::tensor({0.0, 0.0, 0.0, 0.125, 30.0, 0.0, 30.0, 0.0}, at::kDouble).unsqueeze(0)));
  CHECK(same_bytes(clock_times(at, {.unit = 1.0, .origin = 1.7e9}, "x").select(1, 4), at::tensor({60.0}, at::kDouble)));
}

TEST_CASE("time: without stamps the index is the time, wherever a call starts", "[unit]") {
  CHECK(same_bytes(clock_times(consecutive(3, 2, at::kCPU), {.unit = 2.0}, "x"),
                   at::tensor({1.5, 2.0}, at::kDouble).unsqueeze(0)));
}

TEST_CASE("time: stamps of a row that goes on need an origin", "[unit]") {
  CHECK_THROWS_WITH(clock_times(stamped({5.0, 6.0}, 3), {}, "x"),
                    Catch::StartsWith("x: ") && Catch::Contains("origin"));
  Positions at = stamped({5.0, 6.0}, 3);
  at.start.reset();
  CHECK_THROWS_AS(clock_times(at, {}, "x"), ConfigError);
  CHECK(clock_times(at, {.unit = 1.0, .origin = 4.0}, "x")[0][1].item<double>() == 2.0);
}

TEST_CASE("time: the span is max_length steps, and no shorter than one", "[unit]") {
  CHECK(resolved_span({.step = 2.0}, 10, "x") == 20.0);
  CHECK(resolved_span({.step = 2.0, .span = 7.0}, 10, "x") == 7.0);
  CHECK_THROWS_WITH(resolved_span({.step = 2.0, .span = 1.0}, 10, "x"), Catch::Contains("span (1) is below step (2)"));
}

}  // namespace ordo::test
