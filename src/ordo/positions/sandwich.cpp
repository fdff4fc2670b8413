// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/sandwich.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "ordo/positions/score_parts.h"

namespace ordo {

namespace {
// Distances fp64 [...] -> [..., 1]; one cosine at a time, since a tile of all would be large.
Tensor sandwich_sums(const Tensor& distance, const Sandwich::Config& config) {
  const Tensor sum = at::zeros_like(distance);
  for (int64_t m = 1; m <= config.sandwich_dim / 2; ++m) {
    const double frequency =
        std::pow(config.theta, -2.0 * static_cast<double>(m) / static_cast<double>(config.sandwich_dim));
    sum.add_((distance * frequency).cos_().sub_(1.0));
  }
  return sum.unsqueeze(-1);
}
}  // namespace

void fields(Fields& f, Sandwich::Config& c) {
  f("sandwich_dim", c.sandwich_dim, "twice the number of cosines; even", within(2, 1 << 16));
  f("theta", c.theta, "base of the wavelengths", above(1.0));
}

Sandwich::Sandwich(const Config& config, const PositionFacts& facts)
    : sums_(std::make_shared<PositionTable>(
          [config](const Tensor& distance) { return sandwich_sums(distance, config); })) {
  require<ConfigError>(config.sandwich_dim % 2 == 0, "sandwich: sandwich_dim ({}) is odd; it counts pairs, use {}",
                       config.sandwich_dim, config.sandwich_dim + 1);
  const auto heads = static_cast<double>(facts.heads);
  shares_ = FixedTensor(at::arange(1, facts.heads + 1, at::kDouble).reciprocal() * (heads / 8.0));
}

struct Sandwich::Bias final : OffsetBias {
  Bias(const AttentionPass& pass, std::shared_ptr<PositionTable> sums, Tensor shares)
      : OffsetBias(pass, {}), sums_(std::move(sums)), shares_(std::move(shares)) {}
  Tensor at(const Tensor& offset) const override {
    const Positions distance{.index = offset.abs().view({1, -1})};
    return sums_->at(distance, shares_.scalar_type()).view(offset.sizes()) * per_head(shares_);
  }

 private:
  std::shared_ptr<PositionTable> sums_;
  Tensor shares_;
};

std::shared_ptr<const ScoreBias> Sandwich::scores(const AttentionPass& pass) {
  return std::make_shared<Bias>(pass, sums_, shares_.on(pass.q.index.device()).to(score_type(pass)));
}

}  // namespace ordo
