// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "ordo/checkpoint/checkpoint.h"
#include "ordo/core/errors.h"
#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {

TEST_CASE("load_into: parameters take the numbers, whatever their type and order", "[unit]") {
  const at::Tensor a = at::zeros({2, 3}).requires_grad_(true), b = at::zeros({4}, at::kBFloat16);
  load_into({{"b", at::ones({4}) * 2}, {"a", at::ones({2, 3}, at::kDouble)}}, {{"a", a}, {"b", b}}, "model");
  CHECK(same_bytes(a, at::ones({2, 3})));
  CHECK(same_bytes(b, at::ones({4}, at::kBFloat16) * 2));
  CHECK((a.is_leaf() && a.requires_grad()));
}

TEST_CASE("load_into: all that does not fit is told at once, and nothing is copied", "[unit]") {
  const at::Tensor fits = at::zeros({2}), wide = at::zeros({64, 32}), absent = at::zeros({1}),
                   count = at::zeros({1}, at::kLong);
  const std::string message = thrown<CheckpointError>([&] {
    load_into(
        {{"fits", at::ones({2})}, {"wide", at::ones({64, 64})}, {"extra", at::ones({5})}, {"count", at::ones({1})}},
        {{"fits", fits}, {"wide", wide}, {"absent", absent}, {"count", count}}, "model.safetensors of runs/x");
  });
  for (const auto* part :
       {"model.safetensors of runs/x", "'wide' has shape [64, 64], expected [64, 32]", "'absent' is missing",
        "'extra' of shape [5] is unknown", "'count' is of type fp32, expected int64"})
    CHECK(contains(message, part));
  CHECK(same_bytes(fits, at::zeros({2})));
}

TEST_CASE("load_into: a long list of problems is cut", "[unit]") {
  NamedTensors many;
  for (int i = 0; i < 25; ++i) many.emplace_back("layer." + std::to_string(i), at::zeros({1}));
  CHECK(contains(thrown<CheckpointError>([&] { load_into({}, many, "model"); }), "and 15 more"));
}

}  // namespace ordo::test
