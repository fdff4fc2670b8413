// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>

#include "ordo/attention/kernel.h"
#include "ordo/positions/kerple.h"
#include "support/positions.h"
#include "support/tolerance.h"

namespace ordo::test {

TEST_CASE("kerple: under tiled, a multiplied score has the outputs and gradients of eager", "[unit]") {
  Kerple encoding({.variant = Kerple::Variant::power, .multiplicative = true},
                  {.heads = 2, .kv_heads = 2, .head_dim = 4, .layers = 1});
  initialise(encoding, 7, {}, 1);
  const auto run = [&](std::string_view kernel) {
    encoding.zero_grad();
    std::vector<Tensor> all;
    for (uint64_t key = 1; key <= 3; ++key) all.push_back(noise({1, 2, 70, 4}, key).requires_grad_(true));
    const Positions at = consecutive(0, 70, at::kCPU);
    const AttentionPass pass{.q = at, .k = at, .scale = 0.5, .mask = {.causal = true}};
    const AttentionCall call{
        .q = all[0], .k = all[1], .v = all[2], .mask = pass.mask, .bias = encoding.scores(pass), .scale = pass.scale};
    const Tensor out = kernels().build(kernel, {})->run(call).out;
    (out * noise(out.sizes(), 4)).sum().backward();
    std::vector<Tensor> found{out.detach()};
    for (const Tensor& t : all) found.push_back(t.grad());
    for (const Tensor& p : encoding.parameters()) found.push_back(p.grad().clone());
    return found;
  };
  const auto eager = run("eager"), tiled = run("tiled");
  for (size_t i = 0; i < eager.size(); ++i) {
    INFO("tensor " << i);
    CHECK(eager[i].abs().max().item<double>() > 0.0);
    CHECK(close_gradient(tiled[i], eager[i], 1e-4));
  }
}

}  // namespace ordo::test
