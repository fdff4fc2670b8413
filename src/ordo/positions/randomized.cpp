// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/randomized.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <algorithm>

namespace ordo {

namespace {
constexpr NamedValue kEvaluations[] = {{"even", static_cast<int>(Randomized::Evaluation::even)},
                                       {"drawn", static_cast<int>(Randomized::Evaluation::drawn)}};
constexpr int64_t kDefaultStretch = 4;

// `count` different numbers below `limit`, ascending: int64 [count].
Tensor sorted_draw(int64_t count, int64_t limit, uint64_t key) {
  const KeyedPermutation shuffled(key, static_cast<uint64_t>(limit));
  std::vector<int64_t> drawn(static_cast<size_t>(count));
  for (size_t i = 0; i < drawn.size(); ++i) drawn[i] = static_cast<int64_t>(shuffled(i));
  std::sort(drawn.begin(), drawn.end());
  return at::tensor(drawn, at::kLong);
}

// How many positions, counted from 0, are in use.
int64_t positions_in_use(const Positions& at) {
  if (at.start) return *at.start + at.length();
  return at.index.numel() == 0 ? 0 : at.index.max().item<int64_t>() + 1;
}

// table [1|R, n]: position p of row r becomes table[r, p].
Tensor looked_up(const Tensor& table, const Positions& at) {
  if (at.start && *at.start >= 0) return table.slice(1, *at.start, *at.start + at.length());
  const int64_t rows = std::max(table.size(0), at.index.size(0));
  return table.expand({rows, -1}).gather(1, at.index.expand({rows, -1}));
}
}  // namespace

void fields(Fields& f, Randomized::Config& c) {
  f("max_position", c.max_position,
    "in training, positions are drawn from 0 to this number - 1; 0: four times the model's max_length", at_least(0));
  f("per_row", c.per_row, "a draw of its own for each row of a batch");
  f("evaluation", c.evaluation,
    "otherwise: evenly spread by a stride of max_position / evaluation_length, or one fixed draw", kEvaluations);
  f("evaluation_length", c.evaluation_length, "tokens that evaluation is laid out for; 0: the model's max_length",
    at_least(0));
}

Randomized::Randomized(const Config& config, const PositionFacts& facts) : PositionMove(kKind), config_(config) {
  Config& c = config_;
  if (c.max_position == 0) c.max_position = kDefaultStretch * facts.max_length;
  if (c.evaluation_length == 0) c.evaluation_length = facts.max_length;
  require<ConfigError>(c.max_position > 0 && c.evaluation_length > 0,
                       "randomized: max_position and evaluation_length must be given when the model has no max_length");
  require<ConfigError>(c.max_position >= facts.max_length,
                       "randomized: max_position ({}) is smaller than the model's max_length ({}): that many positions "
                       "cannot be drawn from it; raise it",
                       c.max_position, facts.max_length);
  require<ConfigError>(c.max_position >= c.evaluation_length,
                       "randomized: evaluation_length ({}) is larger than max_position ({}); raise max_position",
                       c.evaluation_length, c.max_position);
  if (c.evaluation == Evaluation::drawn)
    drawn_ = FixedTensor(sorted_draw(c.evaluation_length, c.max_position, key_of(0, kKind)).unsqueeze(0));
}

int64_t Randomized::fits() const {
  if (config_.evaluation == Evaluation::drawn) return config_.evaluation_length;
  return (config_.max_position - 1) / stride() + 1;
}

std::optional<std::string> Randomized::refuses_length(int64_t length) const {
  if (length <= fits()) return std::nullopt;
  if (config_.evaluation == Evaluation::drawn)
    return fmt::format(
        "a sequence of {} tokens is longer than the {} positions that randomized draws for evaluation; raise "
        "evaluation_length, up to max_position ({})",
        length, config_.evaluation_length, config_.max_position);
  return fmt::format(
      "a sequence of {} tokens is longer than the {} that randomized has room for: it places every token {} positions "
      "after the last, below max_position ({}); raise evaluation_length, up to max_position",
      length, fits(), stride(), config_.max_position);
}

int64_t Randomized::reach(int64_t length) const {
  const bool even = !is_training() && config_.evaluation == Evaluation::even;
  return even ? std::max<int64_t>(length - 1, 0) * stride() + 1 : config_.max_position;
}

Positions Randomized::place(const Positions& at, int64_t rows, const Draw& draw) {
  require_whole(kKind, at);
  const bool even = !is_training() && config_.evaluation == Evaluation::even;
  const int64_t used = even && !at.index.is_cpu() ? 0 : positions_in_use(at);  // a device is not waited for in vain
  const int64_t room = is_training() ? config_.max_position : fits();
  require<ConfigError>(used <= room, "randomized: {}", refuses_length(used).value_or(""));
  if (even) return stride() == 1 ? at : Positions{.index = at.index * stride()};
  if (!is_training()) return {.index = looked_up(drawn_.on(at.index.device()), at)};
  const uint64_t batch = draw_key(draw);
  std::vector<Tensor> draws;
  for (int64_t row = 0; row < (config_.per_row ? rows : 1); ++row)
    draws.push_back(sorted_draw(used, config_.max_position, mix(batch, static_cast<uint64_t>(row))));
  return {.index = looked_up(at::stack(draws).to(at.index.device()), at)};
}

}  // namespace ordo
