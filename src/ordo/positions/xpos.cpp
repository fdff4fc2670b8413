// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/xpos.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>

#include <cmath>

#include "ordo/positions/rotary_checks.h"
#include "ordo/positions/rotate.h"

namespace ordo {

void fields(Fields& f, Xpos::Config& c) {
  f("theta", c.theta, "base of the wavelengths", above(1.0));
  f("scale_base", c.scale_base, "tokens over which the fastest pair's score fades to gamma / (1 + gamma)", above(0.0));
  f("gamma", c.gamma, "larger: scores fade less", above(0.0));
}

Xpos::Xpos(const Config& config, const PositionFacts& facts)
    : config_(config),
      frequencies_(rotary_frequencies(config.theta, facts.head_dim)),
      table_([all = frequencies_](const Tensor& positions) {
        return turns(positions.unsqueeze(-1) * all.on(positions.device()));
      }) {
  require<ConfigError>(facts.causal,
                       "xpos: scores of keys ahead of the query would grow with the distance, so it serves causal "
                       "models only; use rope here");
  refuse_across(kKind, facts);
  require_groups(kKind, facts, 2);
  const Tensor pairs = at::arange(facts.head_dim / 2, at::TensorOptions(at::kDouble));
  const Tensor base = (pairs * (2.0 / static_cast<double>(facts.head_dim)) + config.gamma) / (1.0 + config.gamma);
  fading_ = FixedTensor(base.log() / config.scale_base);
}

std::optional<std::string> Xpos::refuses_length(int64_t length) const {
  constexpr double kLargest = 80.0;  // ln of a score that fp32 still holds, with room for the content's own
  const double slope = std::log((1.0 + config_.gamma) / config_.gamma) / config_.scale_base;
  const auto longest = static_cast<int64_t>(kLargest / slope);
  if (length <= longest) return std::nullopt;
  return fmt::format(
      "a sequence of {} tokens is longer than the {} over which the factors of xpos stay within fp32; shorten it, or "
      "raise scale_base ({})",
      length, longest, config_.scale_base);
}

Tensor Xpos::rows(const Positions& at, at::ScalarType type, double side) {
  const at::NoGradGuard constant;
  const Tensor turns = table_.at(at, at::kDouble);
  if (at.index.numel() == 0) return turns.to(type);
  const Tensor positions = real_positions(at);
  const Tensor from_centre = positions - (positions.amax(1, /*keepdim=*/true) / 2.0).floor();
  const Tensor factors = (from_centre.unsqueeze(-1) * (fading_.on(positions.device()) * side)).exp();
  return (turns * at::cat({factors, factors}, -1)).to(type);
}

Tensor Xpos::query(const Tensor& q, const Positions& at, int64_t layer) {
  (void)layer;
  return rotate(q, rows(at, accumulate_type(q.scalar_type()), 1.0), RotaryLayout::interleaved);
}

Tensor Xpos::key(const Tensor& k, const Positions& at, int64_t layer) {
  (void)layer;
  return rotate(k, rows(at, accumulate_type(k.scalar_type()), -1.0), RotaryLayout::interleaved);
}

Tensor Xpos::frequencies(int64_t length) const {
  (void)length;
  return frequencies_.value();
}

}  // namespace ordo
