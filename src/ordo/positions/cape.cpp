// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/cape.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

#include "ordo/positions/table.h"
#include "ordo/positions/time.h"

namespace ordo {

namespace {
// The mean of `where` fp64 [R, L] over each token's document.
Tensor document_means(const Positions& at, const Tensor& where) {
  const Tensor document = document_starts(at).expand(where.sizes());
  const Tensor none = at::zeros_like(where);
  const Tensor sums = none.scatter_add(1, document, where),
               counts = none.scatter_add(1, document, at::ones_like(where));
  return (sums / counts).gather(1, document);
}
}  // namespace

void fields(Fields& f, Cape::Config& c) {
  f("global_shift", c.global_shift, "in training, a row is moved by up to so much either way", within(0.0, 1e9));
  f("local_shift", c.local_shift, "in training, each token is moved by up to so much either way; below 0.5 order stays",
    within(0.0, 1e9));
  f("scale", c.scale, "in training, a row's positions are multiplied by up to this, or divided", at_least(1.0));
  f("normalize", c.normalize,
    "subtract the mean position: of the document, or in causal stacks that of a row of max_length");
  f("freq_scale", c.freq_scale, "multiplies the resulting positions, always", above(0.0));
}

Cape::Cape(const Config& config, const PositionFacts& facts) : PositionMove(kKind), config_(config) {
  if (facts.causal) centre_ = static_cast<double>(std::max<int64_t>(facts.max_length - 1, 0)) / 2.0;
}

Positions Cape::place(const Positions& at, int64_t rows, const Draw& draw) {
  Tensor where = real_positions(at);
  if (config_.normalize) where = centre_ ? where - *centre_ : where - document_means(at, where);
  if (is_training()) where = augmented(where, rows, draw);
  return {.index = at.index, .coords = (where * config_.freq_scale).unsqueeze(-1), .start = at.start};
}

Tensor Cape::augmented(const Tensor& where, int64_t rows, const Draw& draw) const {
  const uint64_t batch = draw_key(draw);
  const auto noise = [&](int64_t columns, double reach, uint64_t which) {
    const Tensor drawn = at::empty({rows, columns}, where.options());
    draw_uniform(drawn, -reach, reach, mix(batch, which));
    return drawn;
  };
  const Tensor moved = where + noise(1, config_.global_shift, 0) + noise(where.size(1), config_.local_shift, 1);
  return moved * noise(1, std::log(config_.scale), 2).exp();
}

}  // namespace ordo
