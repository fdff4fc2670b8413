// SPDX-License-Identifier: Apache-2.0
// Calls whose tensors do not fit each other: `tiled` reads raw memory, and must refuse them first.
#include "support/catch.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "attention/kernel_case.h"
#include "support/thrown.h"

using Catch::Matchers::Contains;
using ordo::AttentionCall;
using ordo::Tensor;
using ordo::test::KernelCase;
using ordo::test::KernelInputs;
using ordo::test::thrown;

namespace {
// What `tiled` says of a sound call of 2 rows, 4 heads and 20 tokens once `spoil` has been at it.
template <class Spoil>
std::string refused_shapes(const Spoil& spoil, const KernelCase& c = {}) {
  AttentionCall call = KernelInputs(c).call();
  spoil(call);
  return thrown<ordo::Error>([&] { ordo::kernels().build("tiled", {})->run(call); });
}
Tensor one_document(int64_t rows, int64_t length) { return at::ones({rows, length}, at::kLong); }

struct ShortBias final : ordo::ScoreBias {
  Tensor tile(const ordo::Tile&, const Tensor&, const Tensor&) const override { return {}; }
  std::optional<Tensor> by_key() const override { return keys; }
  std::optional<Tensor> by_offset() const override { return offsets; }
  std::optional<Tensor> keys, offsets;
};
}  // namespace

TEST_CASE("tiled: keys and values that do not fit the queries are refused in words", "[unit]") {
  CHECK_THAT(refused_shapes([](AttentionCall& c) { c.v = c.v.slice(2, 0, 7); }), Contains("20 keys and 7 values"));
  CHECK_THAT(refused_shapes([](AttentionCall& c) { c.k = c.k.slice(0, 0, 1); }), Contains("k has 1"));
  CHECK_THAT(refused_shapes([](AttentionCall& c) { c.k = c.k.slice(1, 0, 3), c.v = c.v.slice(1, 0, 3); }),
             Contains("4 query heads cannot share 3"));
  CHECK_THAT(refused_shapes([](AttentionCall& c) { c.k = c.k.slice(3, 0, 5); }), Contains("8 wide, keys 5"));
}

TEST_CASE("tiled: masks that do not fit the call are refused in words, on both paths", "[unit]") {
  for (const std::optional<double> softcap : {std::optional<double>(), std::optional<double>(5.0)}) {
    const KernelCase general{.softcap = softcap};
    const auto refused = [&](const auto& spoil) { return refused_shapes(spoil, general); };
    CHECK_THAT(refused([](AttentionCall& c) { c.mask.keys = at::ones({2, 19}, at::kBool); }), Contains("mask.keys"));
    CHECK_THAT(refused([](AttentionCall& c) { c.mask.keys = at::ones({3, 20}, at::kBool); }), Contains("mask.keys"));
    CHECK_THAT(refused([](AttentionCall& c) { c.mask.q_segment = one_document(2, 20); }), Contains("or neither"));
    CHECK_THAT(refused([](AttentionCall& c) {
                 c.mask.q_segment = one_document(2, 20), c.mask.k_segment = one_document(2, 21);
               }),
               Contains("mask.k_segment"));
    CHECK_THAT(
        refused([](AttentionCall& c) { c.mask.q_segment = c.mask.k_segment = one_document(2, 20).to(at::kInt); }),
        Contains("int64"));
  }
}

TEST_CASE("tiled: a bias of another width than the call's is refused in words", "[unit]") {
  const auto given = [](std::optional<Tensor> keys, std::optional<Tensor> offsets) {
    return [=](AttentionCall& c) {
      const auto bias = std::make_shared<ShortBias>();
      bias->keys = keys, bias->offsets = offsets;
      c.bias = bias;
    };
  };
  CHECK_THAT(refused_shapes(given(at::zeros({1, 4, 1, 19}), {})), Contains("over keys is [1, 4, 1, 19]"));
  CHECK_THAT(refused_shapes(given({}, at::zeros({4, 38}))), Contains("expected [4, 39]"));
  CHECK_THAT(refused_shapes(given({}, at::zeros({4, 38})), {.softcap = 5.0}), Contains("expected [4, 39]"));
}
