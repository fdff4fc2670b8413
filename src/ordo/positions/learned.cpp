// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/learned.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/zeros.h>

namespace ordo {

namespace {
constexpr NamedValue kOverflows[] = {{"error", static_cast<int>(Learned::Overflow::error)},
                                     {"clamp", static_cast<int>(Learned::Overflow::clamp)}};
}  // namespace

void fields(Fields& f, Learned::Config& c) {
  f("max_positions", c.max_positions, "rows of the table; 0: the model's max_length", at_least(0));
  f("offset", c.offset, "rows before that of position 0 (2 in OPT, padding index + 1 in RoBERTa)", at_least(0));
  f("init_std", c.init_std, "standard deviation of the first values", at_least(0.0));
  f("on_overflow", c.on_overflow, "past the table: stop with an error, or use the last row", kOverflows);
}

Learned::Learned(const Config& config, const PositionFacts& facts) : config_(config) {
  if (config_.max_positions == 0) config_.max_positions = facts.max_length;
  require<ConfigError>(config_.max_positions > 0,
                       "learned: max_positions is 0 and the model has no max_length; give one of them");
  require<ConfigError>(config_.on_overflow == Overflow::clamp || config_.max_positions >= facts.max_length,
                       "learned: max_positions ({}) is smaller than the model's max_length ({}); raise it, or leave it "
                       "out, or set on_overflow: clamp",
                       config_.max_positions, facts.max_length);
  weight_ = register_parameter("weight", at::zeros({config_.max_positions + config_.offset, facts.dim}));
}

std::optional<std::string> Learned::refuses_length(int64_t length) const {
  if (config_.on_overflow == Overflow::clamp || length <= config_.max_positions) return std::nullopt;
  return fmt::format(
      "a sequence of {} tokens is longer than the {} positions of the learned table; shorten it, or train with a "
      "larger max_positions, "
      "or set on_overflow: clamp",
      length, config_.max_positions);
}

Tensor Learned::rows(const Positions& at) const {
  require<ConfigError>(!at.coords.defined(),
                       "learned: a table has no row for real-valued positions; use sinusoidal or rope");
  const int64_t last = config_.max_positions - 1;
  if (at.start && *at.start >= 0 && *at.start + at.length() <= config_.max_positions)
    return weight_.slice(0, config_.offset + *at.start, config_.offset + *at.start + at.length()).unsqueeze(0);
  if (config_.on_overflow == Overflow::clamp) return at::embedding(weight_, at.index.clamp(0, last) + config_.offset);
  if (at.index.is_cpu() && at.index.numel() > 0) {  // elsewhere the model has looked at the length
    const auto refused = refuses_length(at.index.max().item<int64_t>() + 1);
    require<ConfigError>(!refused, "learned: {}", refused.value_or(""));
  }
  return at::embedding(weight_, config_.offset == 0 ? at.index : at.index + config_.offset);
}

Tensor Learned::input(const Tensor& x, const Positions& at) { return (x + rows(at)).to(x.scalar_type()); }

void Learned::reset(const Initialiser& init, const std::string& path) {
  init.normal(weight_, parameter_name(path, "weight"), config_.init_std);
}

}  // namespace ordo
