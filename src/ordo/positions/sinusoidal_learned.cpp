// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/sinusoidal_learned.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "ordo/positions/offsets.h"

namespace ordo {

void fields(Fields& f, SinusoidalLearned::Config& c) {
  fields(f, c.sines);
  f("max_positions", c.max_positions, "rows of the learned table; 0: the model's max_length. Past them: sines alone",
    within(0, 1 << 26));
  f("learned_alpha", c.learned_alpha, "multiply the learned rows by a learned number that starts at 1");
  f("on_resize", c.on_resize, "weights of another length: keep rows, the others being zero, or stretch them",
    kOnResize);
  fields(f, c.fusion);
}

SinusoidalLearned::SinusoidalLearned(const Config& config, const PositionFacts& facts)
    : config_(config),
      fusion_(register_module("fusion", std::make_shared<Fusion>(config.fusion, facts.dim))),
      table_([sines = config.sines, width = fusion_->width()](const Tensor& positions) {
        return sinusoids(positions, width, sines);
      }) {
  require_columns(kKind, fusion_->width(), config_.sines);
  if (config_.max_positions == 0) config_.max_positions = facts.max_length;
  require<ConfigError>(config_.max_positions > 0,
                       "sinusoidal_learned: max_positions is 0 and the model has no max_length; give one of them");
  weight_ = register_parameter("weight", at::zeros({config_.max_positions, fusion_->width()}));
  if (config_.learned_alpha) alpha_ = register_parameter("alpha", at::ones({}));
}

Tensor SinusoidalLearned::correction(const Positions& at, at::ScalarType type) const {
  refuse_coords(at, kKind);
  const Tensor table = weight_.to(type);
  if (at.start && *at.start >= 0 && *at.start + at.length() <= config_.max_positions)
    return table.slice(0, *at.start, *at.start + at.length()).unsqueeze(0);
  const Tensor inside = (at.index >= 0) & (at.index < config_.max_positions);
  return at::embedding(table, at.index.clamp(0, config_.max_positions - 1)) * inside.unsqueeze(-1);
}

Tensor SinusoidalLearned::input(const Tensor& x, const Positions& at) {
  const auto type = accumulate_type(x.scalar_type());
  const Tensor learned = correction(at, type);
  return fusion_->forward(x, table_.at(at, type) + (alpha_.defined() ? alpha_.to(type) * learned : learned));
}

Tensor SinusoidalLearned::frequencies(int64_t length) const {
  (void)length;
  return sinusoid_frequencies(fusion_->width(), config_.sines);
}

std::optional<PositionEncoding::Resized> SinusoidalLearned::resized(const std::string& name,
                                                                    const Tensor& saved) const {
  if (name != "weight") return std::nullopt;
  return resized_rows(at::zeros_like(weight_), saved, config_.on_resize);
}

void SinusoidalLearned::reset(const Initialiser& init, const std::string& path) {
  (void)init, (void)path;
  weight_.zero_();
  if (alpha_.defined()) alpha_.fill_(1.0);
}

}  // namespace ordo
