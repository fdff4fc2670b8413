// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/learned.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "ordo/positions/offsets.h"

namespace ordo {

namespace {
constexpr NamedValue kOverflows[] = {{"error", static_cast<int>(Learned::Overflow::error)},
                                     {"clamp", static_cast<int>(Learned::Overflow::clamp)},
                                     {"interpolate", static_cast<int>(Learned::Overflow::interpolate)}};

TableGrid table_grid(const std::vector<int64_t>& sides) { return {sides.at(0), sides.at(1)}; }

// What the settings of a grid ask of each other; max_positions resolved.
void check_learned_grid(Learned::Config& c) {
  if (c.grid.empty()) {
    require<ConfigError>(
        c.prefix_tokens == 0 && c.saved_grid.empty(),
        "learned: prefix_tokens and saved_grid say how a grid is laid out; give grid: [rows, columns]");
    return;
  }
  require<ConfigError>(c.grid.size() == 2, "learned: grid takes two numbers, [rows, columns], found {}", c.grid.size());
  require<ConfigError>(c.saved_grid.empty() || c.saved_grid.size() == 2,
                       "learned: saved_grid takes two numbers, [rows, columns], found {}", c.saved_grid.size());
  const int64_t made = c.prefix_tokens + table_grid(c.grid).size();
  require<ConfigError>(c.max_positions == 0 || c.max_positions == made,
                       "learned: grid [{}, {}] with prefix_tokens {} makes {} positions, max_positions says {}; leave "
                       "max_positions out",
                       c.grid[0], c.grid[1], c.prefix_tokens, made, c.max_positions);
  require<ConfigError>(c.offset == 0, "learned: a grid takes no offset ({}); rows before it are prefix_tokens",
                       c.offset);
  require<ConfigError>(
      !c.saved_offset,
      "learned: a grid takes no offset, and saved weights of one have no saved_offset ({}); leave it out",
      c.saved_offset.value_or(0));
  require<ConfigError>(c.on_overflow != Learned::Overflow::interpolate,
                       "learned: on_overflow: interpolate stretches a line, not a grid; give the grid of the images");
  require<ConfigError>(c.on_resize != OnResize::extend,
                       "learned: a grid has no end to extend; leave on_resize out, it is interpolated");
  c.max_positions = made;
}
}  // namespace

void fields(Fields& f, Learned::Config& c) {
  f("max_positions", c.max_positions, "rows of the table; 0: the model's max_length, or what the grid makes",
    within(0, 1 << 26));
  f("offset", c.offset, "rows before that of position 0 (2 in OPT, padding index + 1 in RoBERTa)", within(0, 1 << 20));
  f("init_std", c.init_std, "standard deviation of the first values", at_least(0.0));
  f("on_overflow", c.on_overflow,
    "past the table: stop with an error, use the last row, or squeeze each longer row of tokens linearly into the "
    "table",
    kOverflows);
  f("on_resize", c.on_resize,
    "weights of another length: keep rows and start the others anew, or stretch them; absent: extend, a grid is "
    "interpolated",
    kOnResize);
  f("grid", c.grid, "[rows, columns] of an image's patches; weights of another grid are resized (bicubic)",
    at_least(1));
  f("saved_grid", c.saved_grid, "[rows, columns] of such weights; absent: a square, or in the grid's proportion",
    at_least(1));
  f("saved_offset", c.saved_offset, "offset of weights that were trained with another one; absent: as offset",
    at_least(0));
  f("prefix_tokens", c.prefix_tokens, "positions before the grid's (a class token)", at_least(0));
  fields(f, c.fusion);
}

Learned::Learned(const Config& config, const PositionFacts& facts)
    : config_(config), fusion_(register_module("fusion", std::make_shared<Fusion>(config.fusion, facts.dim))) {
  check_learned_grid(config_);
  if (config_.max_positions == 0) config_.max_positions = facts.max_length;
  require<ConfigError>(config_.max_positions > 0,
                       "learned: max_positions is 0 and the model has no max_length; give one of them");
  require<ConfigError>(
      config_.on_overflow != Overflow::error || config_.max_positions >= facts.max_length,
      "learned: {} ({}) is smaller than the model's max_length ({}); raise it, or leave it out, or set "
      "on_overflow: clamp",
      config_.grid.empty() ? "max_positions" : "what the grid makes", config_.max_positions, facts.max_length);
  weight_ = register_parameter("weight", at::zeros({config_.offset + config_.max_positions, fusion_->width()}));
}

std::optional<std::string> Learned::refuses_length(int64_t length) const {
  if (config_.on_overflow != Overflow::error || length <= config_.max_positions) return std::nullopt;
  return fmt::format(
      "a sequence of {} tokens is longer than the {} positions of the learned table; shorten it, or give the "
      "model more with model.max_length (max_positions, where that is set), or set on_overflow: clamp or interpolate",
      length, config_.max_positions);
}

Tensor Learned::rows(const Positions& at, at::ScalarType type) const {
  refuse_coords(at, kKind);
  const Tensor table = weight_.to(type);
  if (at.start && *at.start >= 0 && *at.start + at.length() <= config_.max_positions)
    return table.slice(0, config_.offset + *at.start, config_.offset + *at.start + at.length()).unsqueeze(0);
  if (config_.on_overflow == Overflow::interpolate) return squeezed(at, type);
  if (config_.on_overflow == Overflow::clamp)
    return at::embedding(table, at.index.clamp(0, config_.max_positions - 1) + config_.offset);
  if (at.index.is_cpu() && at.index.numel() > 0) {  // elsewhere the model has looked at the length
    const auto refused = refuses_length(at.index.max().item<int64_t>() + 1);
    require<ConfigError>(!refused, "learned: {}", refused.value_or(""));
  }
  return at::embedding(table, config_.offset == 0 ? at.index : at.index + config_.offset);
}

Tensor Learned::squeezed(const Positions& at, at::ScalarType type) const {
  if (at.length() == 0) return at::zeros({at.index.size(0), 0, fusion_->width()}, weight_.options().dtype(type));
  const int64_t last = config_.max_positions - 1;
  const Tensor longest = at.index.amax(1, /*keepdim=*/true).clamp_min(std::max<int64_t>(last, 1));
  const Tensor places = at.index.clamp_min(0).to(at::kDouble) * static_cast<double>(last) / longest;
  return rows_between(weight_.slice(0, config_.offset).to(type), places);
}

Tensor Learned::input(const Tensor& x, const Positions& at) {
  return fusion_->forward(x, rows(at, accumulate_type(x.scalar_type())));
}

std::optional<TableGrid> Learned::grid_of(int64_t patches) const {
  const TableGrid own = table_grid(config_.grid);
  if (!config_.saved_grid.empty()) return table_grid(config_.saved_grid);
  if (patches == own.size()) return own;
  const auto side = static_cast<int64_t>(std::llround(std::sqrt(static_cast<double>(patches))));
  if (side * side == patches) return TableGrid{side, side};
  for (int64_t rows = 1; rows <= patches; ++rows)
    if (patches % rows == 0 && rows * own.columns == patches / rows * own.rows) return TableGrid{rows, patches / rows};
  return std::nullopt;
}

// Rows of another offset first move to where this one has those of the same positions.
std::optional<PositionEncoding::Resized> Learned::resized_line(const Tensor& saved) const {
  const OnResize how = config_.on_resize.value_or(OnResize::extend);
  const int64_t before = config_.saved_offset.value_or(config_.offset), moved = config_.offset - before;
  if (moved == 0 || saved.size(1) != weight_.size(1) || saved.size(0) <= before)
    return resized_rows(weight_, saved, how, config_.offset);
  const Tensor aligned =
      moved < 0 ? saved.slice(0, -moved) : at::cat({weight_.detach().slice(0, 0, moved).to(saved.options()), saved});
  const std::string said = fmt::format("rows moved from offset {} to {}", before, config_.offset);
  auto fitted = resized_rows(weight_, aligned, how, config_.offset);
  if (!fitted) return Resized{aligned.contiguous(), said};
  return Resized{fitted->value, fmt::format("{}, {}", said, fitted->how)};
}

std::optional<PositionEncoding::Resized> Learned::resized(const std::string& name, const Tensor& saved) const {
  if (name != "weight" || saved.dim() != 2) return std::nullopt;
  if (config_.grid.empty()) return resized_line(saved);
  const auto from =
      saved.size(0) > config_.prefix_tokens ? grid_of(saved.size(0) - config_.prefix_tokens) : std::nullopt;
  if (!from || *from == table_grid(config_.grid)) return std::nullopt;
  return resized_grid(weight_, saved, *from, table_grid(config_.grid), config_.prefix_tokens);
}

void Learned::reset(const Initialiser& init, const std::string& path) {
  init.normal(weight_, parameter_name(path, "weight"), config_.init_std);
}

}  // namespace ordo
