// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/shaw.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

namespace ordo {

namespace {
constexpr NamedValue kShawVariants[] = {{"clipped", static_cast<int>(Shaw::Variant::clipped)},
                                        {"relative_key", static_cast<int>(Shaw::Variant::relative_key)},
                                        {"relative_key_query", static_cast<int>(Shaw::Variant::relative_key_query)}};
constexpr NamedValue kShawBeyond[] = {{"clip", static_cast<int>(Shaw::Beyond::clip)},
                                      {"zero", static_cast<int>(Shaw::Beyond::zero)}};
constexpr int64_t kShawReach = 16;  // of the paper's translation models

Shaw::Config shaw_resolved(Shaw::Config c, const PositionFacts& facts) {
  const bool clipped = c.variant == Shaw::Variant::clipped;
  require<ConfigError>(clipped || (!c.left && !c.right && !c.beyond_window),
                       "shaw: left, right and beyond_window say what happens beyond a window, and BERT's variants have "
                       "none; leave them out, or use variant: clipped");
  require<ConfigError>(!(c.left && c.right) || c.max_relative_positions == 0,
                       "shaw: left ({}) and right ({}) leave nothing for max_relative_positions ({}); give either",
                       c.left.value_or(0), c.right.value_or(0), c.max_relative_positions);
  require<ConfigError>(!facts.causal || c.right.value_or(0) == 0,
                       "shaw: right ({}) counts keys ahead of the query, which a causal stack hides; use right: 0, or "
                       "leave it out",
                       c.right.value_or(0));
  if (c.max_relative_positions == 0) c.max_relative_positions = clipped ? kShawReach : facts.max_length;
  require<ConfigError>(clipped || c.max_relative_positions > 0,
                       "shaw: max_relative_positions is 0 and the model has no max_length; give one of them");
  require<ConfigError>(clipped || c.max_relative_positions >= facts.max_length,
                       "shaw: max_relative_positions ({}) is smaller than the model's max_length ({}); raise it, or "
                       "leave it out, or use variant: clipped",
                       c.max_relative_positions, facts.max_length);
  c.use_value = c.use_value.value_or(clipped);
  require<ConfigError>(*c.use_value || !c.share_kv_table,
                       "shaw: share_kv_table shares a table with the values, and use_value is false; drop one of them");
  return c;
}
}  // namespace

void fields(Fields& f, Shaw::Config& c) {
  f("variant", c.variant, "rows for clipped offsets, or BERT's for all offsets of a bounded length", kShawVariants);
  f("max_relative_positions", c.max_relative_positions,
    "offsets with a row of their own, on each side; 0: 16 when clipped, else the model's max_length",
    within(0, 1 << 20));
  f("left", c.left, "the same for keys before the query; absent: max_relative_positions", within(0, 1 << 20));
  f("right", c.right, "the same for keys behind the query; absent: max_relative_positions", within(0, 1 << 20));
  f("beyond_window", c.beyond_window, "farther keys get the outermost row, or nothing; absent: clip", kShawBeyond);
  f("use_value", c.use_value, "vectors join the values too; absent: when clipped");
  f("share_kv_table", c.share_kv_table, "one table serves keys and values");
  f("init_std", c.init_std, "standard deviation of the first values; 0: uniform as Xavier's", at_least(0.0));
}

Shaw::Shaw(const Config& config, const PositionFacts& facts) : config_(shaw_resolved(config, facts)) {
  const int64_t reach = clipped() ? config_.max_relative_positions : config_.max_relative_positions - 1;
  rows_ = {.left = config_.left.value_or(reach),
           .right = config_.right.value_or(reach),
           .zero_beyond = config_.beyond_window == Beyond::zero,
           .query_minus_key = !clipped()};
  const std::vector<int64_t> shape{facts.layers, rows_.count(), facts.head_dim};
  keys_ = register_parameter("keys", at::zeros(shape));
  if (*config_.use_value && !config_.share_kv_table) values_ = register_parameter("values", at::zeros(shape));
}

PositionTraits Shaw::traits() const {
  return {.places = {.scores = true, .values = *config_.use_value},
          .relative = true,
          .unbounded = clipped(),
          .reads_content = true};
}

std::optional<std::string> Shaw::refuses_length(int64_t length) const {
  if (clipped() || length <= config_.max_relative_positions) return std::nullopt;
  return fmt::format(
      "a sequence of {} tokens is longer than the {} positions that BERT's relative keys have rows for; shorten it, or "
      "train with a larger max_relative_positions, or use variant: clipped",
      length, config_.max_relative_positions);
}

Tensor Shaw::Rows::operator()(const Tensor& offset) const {
  const Tensor near = offset.clamp(-left, right);
  if (query_minus_key) return right - near;
  return zero_beyond ? (near + left).masked_fill(near.ne(offset), count()) : near + left;
}

Tensor Shaw::table(const Tensor& all, int64_t layer) const {
  const Tensor own = all.slice(0, layer, layer + 1);
  return rows_.zero_beyond ? at::cat({own, at::zeros({1, 1, own.size(2)}, own.options())}, 1) : own;
}

std::shared_ptr<const ScoreBias> Shaw::scores(const AttentionPass& pass) {
  refuse_coords(pass, kKind);
  if (!clipped() && pass.q.index.is_cpu()) {  // elsewhere the model has looked at the length
    const auto [low, high] = offset_range(pass.q, pass.k);
    const auto refused = refuses_length(std::max(-low, high) + 1);
    require<ConfigError>(!refused, "shaw: {}", refused.value_or(""));
  }
  const Tensor vectors = table(keys_, pass.layer);
  const bool keys_too = config_.variant == Variant::relative_key_query;
  return std::make_shared<ContentBias>(pass, ContentForm{.queries = vectors, .keys = keys_too ? vectors : Tensor()},
                                       rows_);
}

std::shared_ptr<const ValueTerm> Shaw::values(const AttentionPass& pass) {
  if (!*config_.use_value) return nullptr;
  return std::make_shared<OffsetValues>(pass, table(config_.share_kv_table ? keys_ : values_, pass.layer), rows_);
}

void Shaw::reset(const Initialiser& init, const std::string& path) {
  const double xavier = std::sqrt(6.0 / static_cast<double>(keys_.size(1) + keys_.size(2)));
  const auto draw = [&](const Tensor& table, const char* name) {
    if (!table.defined()) return;
    if (config_.init_std > 0.0)
      init.normal(table, parameter_name(path, name), config_.init_std);
    else
      init.uniform(table, parameter_name(path, name), -xavier, xavier);
  };
  draw(keys_, "keys");
  draw(values_, "values");
}

}  // namespace ordo
