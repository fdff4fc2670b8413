// SPDX-License-Identifier: Apache-2.0
// One attention call, described in a few numbers, and what a kernel makes of it: outputs and all gradients.
#pragma once
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>

#include <string>
#include <vector>

#include "ordo/attention/kernel.h"
#include "ordo/nn/module.h"
#include "support/positions.h"
#include "support/small_encodings.h"
#include "support/tolerance.h"

namespace ordo::test {

struct KernelCase {
  std::string encoding = "none";  // of all_encodings()
  int64_t B = 2, H = 4, G = 4, Lq = 20, Lk = 20, E = 8;
  Mask mask = {};
  bool consecutive = true;  // positions know that they are: biases may offer a vector over offsets
  double dropout = 0.0;
  std::optional<double> softcap = {};
  at::ScalarType type = at::kFloat;
};

struct Outcome {
  Tensor out;
  std::vector<Tensor> gradients;  // q, k, v, x, then the encoding's parameters; zeros where there is none
};

// The inputs of a case; leaves that want gradients.
struct KernelInputs {
  explicit KernelInputs(const KernelCase& c) : kernel_case(c) {
    const PositionFacts facts{.dim = 8,
                              .heads = c.H,
                              .kv_heads = c.G,
                              .head_dim = c.E,
                              .layers = 1,
                              .max_length = c.Lk + 16,
                              .causal = c.mask.causal};
    encoding = any_encoding(c.encoding, facts);
    encoding->to(c.type == at::kDouble ? at::kDouble : at::kFloat);
    const auto leaf = [&](at::IntArrayRef shape, uint64_t key) {
      return noise(shape, key, c.type).requires_grad_(true);
    };
    // Stored as a projection leaves them: the heads of a token side by side.
    q = leaf({c.B, c.Lq, c.H * c.E}, 1), k = leaf({c.B, c.Lk, c.G * c.E}, 2), v = leaf({c.B, c.Lk, c.G * c.E}, 3),
    x = leaf({c.B, c.Lk, 8}, 4);
  }

  AttentionCall call() const {
    const KernelCase& c = kernel_case;
    const auto heads = [&](const Tensor& t, int64_t n) {
      return t.view({t.size(0), t.size(1), n, c.E}).transpose(1, 2);
    };
    Positions of_q = ordo::consecutive(c.mask.offset, c.Lq, at::kCPU), of_k = ordo::consecutive(0, c.Lk, at::kCPU);
    if (!c.consecutive) of_q.start = of_k.start = std::nullopt;
    const AttentionPass pass{.layer = 0,
                             .q = of_q,
                             .k = of_k,
                             .scale = 0.35,
                             .x = x.slice(1, c.mask.offset, c.mask.offset + c.Lq),
                             .kept = encoding->keep(x, of_k, 0),
                             .mask = c.mask};
    return {.q = heads(q, c.H),
            .k = heads(k, c.G),
            .v = heads(v, c.G),
            .mask = c.mask,
            .bias = encoding->scores(pass),
            .value_term = encoding->values(pass),
            .scale = 0.35,
            .dropout = c.dropout,
            .draw = 99,
            .softcap = c.softcap};
  }

  std::vector<Tensor> leaves() const {
    std::vector<Tensor> all{q, k, v, x};
    for (const Tensor& p : encoding->parameters()) all.push_back(p);
    return all;
  }

  KernelCase kernel_case;
  std::shared_ptr<PositionEncoding> encoding;
  Tensor q, k, v, x;
};

inline Outcome run_case(const std::string& kernel, const KernelCase& c) {
  const at::AutoGradMode with_gradients(true);
  const KernelInputs inputs(c);
  const Tensor out = kernels().build(kernel, {})->run(inputs.call()).out;
  out.backward(noise(out.sizes(), 5, out.scalar_type()));
  Outcome result{out.detach(), {}};
  for (const Tensor& leaf : inputs.leaves())
    result.gradients.push_back(leaf.grad().defined() ? leaf.grad() : at::zeros_like(leaf));
  return result;
}

// Outputs and every gradient of `kernel` against those of `eager`.
inline Closeness agrees_with_eager(const std::string& kernel, const KernelCase& c,
                                   Tolerance tolerance = Tolerance::fp32_sum, double relative = 2e-5) {
  const Outcome expected = run_case("eager", c), found = run_case(kernel, c);
  const Closeness outputs = close(found.out, expected.out, tolerance);
  if (!outputs) return {false, "outputs: " + outputs.why};
  double largest = 0.0;
  for (const Tensor& g : expected.gradients) largest = std::max(largest, g.abs().max().item<double>());
  for (size_t i = 0; i < expected.gradients.size(); ++i) {
    const Closeness near = close_gradient(found.gradients[i], expected.gradients[i], relative, 1e-2 * largest);
    if (!near) return {false, fmt::format("gradient {} (q, k, v, x, parameters): {}", i, near.why)};
  }
  return {true, ""};
}

}  // namespace ordo::test
